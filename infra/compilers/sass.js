// The compiler of Sass. These functions come from Go: findSheet, which returns the file that a reference in another file
// means, or "", and readSheet, which returns its content.
import "./browser.js"
import { compileString } from "sass"
import { outside } from "./failure.js"

// A relative URL in a file has the scheme of the file, so it is known whether the file is in a package.
const urlOf = (file) => {
  const path = encodeURI(file).replace(/[?#]/g, encodeURIComponent)
  return new URL((file.startsWith("/node_modules/") ? "package:" : "project:") + path)
}
const fileOf = (url) => decodeURIComponent(String(url).replace(/^\w+:/, ""))
const isFile = (url) => /^(project|package):/.test(url)

// guard refuses style sheets that name the scheme of a file. It finds no file, so it does not get relative URLs.
const guard = {
  canonicalize(url) {
    if (isFile(url)) {
      throw new Error("A style sheet cannot be loaded by such a URL. Use a relative path.")
    }
    return null
  },
  load: () => null,
}

const files = {
  nonCanonicalScheme: "pkg",
  canonicalize(url, { containingUrl, fromImport }) {
    const isRelative = isFile(url)
    const file = findSheet(JSON.stringify({
      spec: isRelative ? fileOf(url) : decodeURIComponent(url),
      importer: isRelative ? "" : fileOf(containingUrl),
      isInPackage: url.startsWith("package:"), isRelative, fromImport,
    }))
    return file ? urlOf(file) : null
  },
  load(url) {
    const file = fileOf(url)
    const syntax = { sass: "indented", css: "css" }[file.split(".").pop().toLowerCase()] ?? "scss"
    return { contents: readSheet(file), syntax }
  },
}

globalThis.compile = ({ file, source, isIndented, isCompressed }) => {
  try {
    const { css } = compileString(source, {
      url: urlOf(file), importer: files, importers: [guard, files], charset: false, logger: { warn() {}, debug() {} },
      syntax: isIndented ? "indented" : "scss", style: isCompressed ? "compressed" : "expanded",
    })
    return { css }
  } catch (error) {
    outside(error)
    const { url, start } = error.span ?? {}
    const place = start ? { line: start.line + 1, column: start.column + 1 } : {}
    return { error: { message: String(error.sassMessage ?? error.message), file: url ? fileOf(url) : "", ...place } }
  }
}
