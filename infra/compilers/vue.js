// The compiler of Vue's single-file components. These functions come from Go: readFile, which returns "" for a file that
// cannot be read, resolveFile, which returns the file that an import means, or "", and compileSass.
import { compileScript, compileStyle, compileTemplate, parse, registerTS } from "@vue/compiler-sfc/dist/compiler-sfc.cjs.js"
import { outside } from "./failure.js"

const fs = { fileExists: (file) => readFile(file) !== "", readFile: (file) => readFile(file) }

// The compiler asks TypeScript for the files of imports that are not relative.
registerTS(() => ({
  findConfigFile: () => undefined,
  resolveModuleName: (spec, importer) => {
    const resolvedFileName = resolveFile(importer, spec)
    return { resolvedModule: resolvedFileName ? { resolvedFileName } : undefined }
  },
}))

// frame matches the line and the column in a code frame.
const frame = /^(\d+) *\|  .*\n {3}\|  ( *)\^/m

// failure returns what an error of the compiler says, and its place in the file.
const failure = (error) => {
  outside(error)
  const [text, ...rest] = String(error.reason ?? error.message ?? error).split("\n\n")
  const message = text.replace(/^\[@?vue\/compiler-sfc\] /, "").replace(/ \(\d+:\d+\)$/, "")
    .replace(/^Failed to resolve import source ("(?:@[\w.-]+\/)?[\w-].*")\.?$/, "Types of packages, such as $1, are not " +
      "available in builds. Copy the type to a file of the project, and import it from there.")
  const mark = rest.join("\n\n").match(frame)
  const file = rest[0]?.split("\n", 1)[0] ?? ""
  const { line, column } = error.loc?.start ?? { line: Number(mark?.[1] ?? 0), column: (mark?.[2].length ?? -1) + 1 }
  return { message, line, column, file: file.startsWith("/") ? file : "" }
}

// failed returns an error with the place of a block.
const failed = (message, block) => Object.assign(new Error(message), { loc: block.loc })

const check = ({ template, script, scriptSetup, styles }) => {
  const { lang } = template ?? {}
  if (lang && lang !== "html") {
    throw failed(`Templates with lang="${lang}" are not supported. Write the template in HTML.`, template)
  }
  for (const block of [script, scriptSetup]) {
    if (block?.lang && !["js", "ts", "jsx", "tsx"].includes(block.lang)) {
      throw failed(`Scripts with lang="${block.lang}" are not supported. Use JavaScript or TypeScript.`, block)
    }
  }
  for (const block of styles) {
    if (block.lang && !["css", "postcss", "scss", "sass"].includes(block.lang)) {
      throw failed(`Styles with lang="${block.lang}" need a tool, and builds run none. Use CSS or Sass.`, block)
    }
  }
}

// include returns the file that the attribute src of a block names.
const include = (block, file) => {
  const found = resolveFile(file, block.src)
  if (!found) {
    throw failed(`The file ${JSON.stringify(block.src)} of the attribute src does not exist.`, block)
  }
  return { content: readFile(found), file: found, line: 1 }
}

const templateOptions = { transformAssetUrls: { includeAbsolute: true } }

// scriptOf returns the script of a component, which declares the variable _sfc_main, and the names in it.
const scriptOf = (descriptor, id, isInline) => {
  const { script, scriptSetup } = descriptor
  if (script?.src) {
    const src = JSON.stringify(script.src)
    return { content: `import _sfc_main from ${src}; export * from ${src};` }
  }
  if (!script && !scriptSetup) {
    return { content: "const _sfc_main = {};" }
  }
  return compileScript(descriptor, {
    id, fs, isProd: true, inlineTemplate: isInline, sourceMap: false, genDefaultAs: "_sfc_main", templateOptions,
  })
}

// renderOf returns the function _sfc_render of a template that is not a part of the script.
const renderOf = (descriptor, file, id, { bindings, lang = "" }) => {
  const { template, styles, slotted } = descriptor
  const { content, ast } = template.src ? include(template, file) : template
  const { code, errors } = compileTemplate({
    ...templateOptions, id, filename: file, source: content, ast, slotted, isProd: true,
    scoped: styles.some((style) => style.scoped),
    compilerOptions: { bindingMetadata: bindings, isTS: lang.startsWith("ts") },
  })
  if (errors.length) {
    throw errors[0]
  }
  return "\n" + code.replace(/\nexport (function|const) render/, "\n$1 _sfc_render")
}

// styleOf returns a style sheet, its file, and the line of the file in which it begins.
const styleOf = (descriptor, style, file, id) => {
  const source = style.src ? include(style, file) : { content: style.content, file, line: style.loc.start.line }
  const { file: from, line } = source
  const isSass = ["scss", "sass"].includes(style.lang)
  const content = isSass ? compileSass(from, style.lang, String(line), source.content) : source.content
  const result = { file: from, line, isModule: Boolean(style.module), isSass }
  if (!style.scoped && !descriptor.cssVars.length) {
    return { ...result, code: content }
  }
  const { code, errors: [error] } = compileStyle({
    id: `data-v-${id}`, filename: from, source: content, scoped: style.scoped, isProd: true, trim: false,
  })
  if (error) {
    outside(error)
    throw Object.assign(error, { loc: { start: { line: (error.line ?? 1) + line - 1, column: error.column ?? 1 } } })
  }
  return { ...result, code }
}

const compile = ({ file, source, id }) => {
  const { descriptor, errors } = parse(source, { filename: file, sourceMap: false })
  if (errors.length) {
    throw errors[0]
  }
  check(descriptor)
  const { template, scriptSetup, styles, customBlocks } = descriptor
  const isInline = Boolean(scriptSetup && !template?.src)
  const script = scriptOf(descriptor, id, isInline)
  const isRendered = template && !isInline
  return {
    code: script.content + (isRendered ? renderOf(descriptor, file, id, script) : ""),
    lang: script.lang ?? "js",
    isRendered,
    scopeId: styles.some((style) => style.scoped) ? `data-v-${id}` : "",
    styles: styles.map((style) => ({
      ...styleOf(descriptor, style, file, id), name: style.module === true ? "$style" : style.module || "",
    })),
    ignored: customBlocks.map((block) => `<${block.type}>`),
  }
}

globalThis.compile = (input) => {
  try {
    return compile(input)
  } catch (error) {
    return { error: failure(error) }
  }
}
