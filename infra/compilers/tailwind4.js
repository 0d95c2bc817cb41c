// Tailwind CSS 4. The functions loadStylesheet and loadModule come from Go.
import { compile, Polyfills } from "tailwindcss4"
import preflight from "tailwindcss4/preflight.css"
import theme from "tailwindcss4/theme.css"
import utilities from "tailwindcss4/utilities.css"
import index from "tailwindcss4/index.css"
import plugin from "tailwindcss4/plugin"
import defaultTheme from "tailwindcss4/defaultTheme"
import colors from "tailwindcss4/colors"
import flattenColorPalette from "tailwindcss4/lib/util/flattenColorPalette"
import path from "path"
import { evaluated } from "./modules.js"

const sheets = { index, preflight, theme, utilities }

globalThis.builtins = {
  path,
  "tailwindcss/plugin": plugin,
  "tailwindcss/defaultTheme": defaultTheme,
  "tailwindcss/colors": colors,
  "tailwindcss/lib/util/flattenColorPalette": flattenColorPalette,
}

const stylesheet = async (id, base) => {
  const [, name] = id.match(/^tailwindcss(?:\/([a-z]+?))?(?:\.css)?$/) ?? []
  const content = id.startsWith("tailwindcss") ? sheets[name ?? "index"] : undefined
  return content === undefined ? JSON.parse(loadStylesheet(id, base)) : { path: id, base: "/", content }
}

let compiler
// start compiles a style sheet, and returns where the names of its classes are.
globalThis.start = async ({ css, base, isModule }) => {
  compiler = await compile(css, {
    base,
    polyfills: isModule ? Polyfills.All ^ Polyfills.AtProperty : Polyfills.All,
    loadStylesheet: stylesheet,
    loadModule: async (id, base) => evaluated(loadModule(id, base)),
  })
  const { sources, root, features } = compiler
  return { sources, root, features }
}
// finish returns the CSS for candidates.
globalThis.finish = async (candidates) => compiler.build(candidates)
