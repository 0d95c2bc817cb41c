// Tailwind CSS 3. The functions loadStylesheet and loadModule come from Go.
import postcss from "postcss"
import atImport from "postcss-import"
import nesting from "./node_modules/tailwindcss3/lib/postcss-plugins/nesting/index.js"
import process3 from "./node_modules/tailwindcss3/lib/processTailwindFeatures.js"
import resolveConfig from "./node_modules/tailwindcss3/lib/public/resolve-config.js"
import { validateConfig } from "./node_modules/tailwindcss3/lib/util/validateConfig.js"
import plugin from "tailwindcss3/plugin"
import defaultTheme from "tailwindcss3/defaultTheme"
import defaultConfig from "tailwindcss3/defaultConfig"
import colors from "tailwindcss3/colors"
import flattenColorPalette from "./node_modules/tailwindcss3/lib/util/flattenColorPalette.js"
import toColorValue from "./node_modules/tailwindcss3/lib/util/toColorValue.js"
import * as withAlphaVariable from "./node_modules/tailwindcss3/lib/util/withAlphaVariable.js"
import parseObjectStyles from "./node_modules/tailwindcss3/lib/util/parseObjectStyles.js"
import path from "path"
import { evaluated } from "./modules.js"

const own = (module) => module?.default ?? module

globalThis.builtins = {
  path,
  postcss,
  "tailwindcss/plugin": own(plugin),
  "tailwindcss/defaultTheme": own(defaultTheme),
  "tailwindcss/defaultConfig": own(defaultConfig),
  "tailwindcss/colors": own(colors),
  "tailwindcss/resolveConfig": own(resolveConfig),
  "tailwindcss/lib/util/flattenColorPalette": { __esModule: true, default: own(flattenColorPalette) },
  "tailwindcss/lib/util/toColorValue": { __esModule: true, default: own(toColorValue) },
  "tailwindcss/lib/util/withAlphaVariable": withAlphaVariable,
  "tailwindcss/lib/util/parseObjectStyles": { __esModule: true, default: own(parseObjectStyles) },
}

const layers = /^tailwindcss\/(base|components|utilities|variants|screens)(\.css)?$/

let root, result, config
// start reads a style sheet and its configuration, and returns where the names of its classes are.
globalThis.start = async ({ css, file, base, config: answer, nested }) => {
  const sheets = {}
  const imports = atImport({
    resolve: (id, base) => {
      const layer = id === "tailwindcss" || id === "tailwindcss/tailwind.css" ? "" : layers.exec(id)?.[1]
      if (layer !== undefined) {
        const path = "/tailwindcss/" + (layer || "tailwind")
        sheets[path] = (layer ? [layer] : ["base", "components", "utilities"]).map((name) => `@tailwind ${name};`).join("")
        return path
      }
      const { path, content } = JSON.parse(loadStylesheet(id, base))
      sheets[path] = content
      return path
    },
    load: (path) => sheets[path],
  })
  result = await postcss([imports, ...nested ? [nesting()] : []]).process(css, { from: file, map: false })
  root = result.root
  let user = answer ? evaluated(answer).module : {}
  root.walkAtRules("config", (rule) => {
    const id = rule.params.replace(/^["']|["']$/g, "")
    user = evaluated(loadModule(id, base)).module
    rule.remove()
  })
  config = validateConfig(own(resolveConfig)(user))
  return { globs: config.content.files.filter((file) => typeof file === "string") }
}
// finish returns the CSS for the contents of files.
globalThis.finish = async (contents) => {
  const raw = config.content.files.filter((file) => typeof file.raw === "string")
  const all = [...raw.map(({ raw, extension = "html" }) => ({ content: raw, extension })), ...contents]
  const state = { opts: { from: result.opts.from }, messages: [], warn() {}, root }
  await own(process3)(({ createContext }) => () => createContext(config, all))(root, state)
  return root.toString()
}
