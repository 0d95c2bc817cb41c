// The compiler of Svelte. globalThis.compiler can be replaced by the compiler of a project.
import * as compiler from "svelte/compiler"
import { outside } from "./failure.js"

globalThis.compiler = compiler

const failure = (error) => {
  outside(error)
  const [message] = String(error.message ?? error).split("\n")
  const { line = 0, column = -1 } = error.start ?? {}
  return { message, code: error.code ?? "", line, column: column + 1 }
}

// version returns the major version of the compiler.
const version = () => Number(globalThis.compiler.VERSION.split(".")[0])

const compile = ({ file, source, isModule, options }) => {
  const base = { filename: file, dev: false }
  if (isModule) {
    const { js, warnings } = globalThis.compiler.compileModule(source, { ...base, generate: "client" })
    return { code: js.code, warnings }
  }
  const generate = version() < 5 ? "dom" : "client"
  const { js, css, warnings } = globalThis.compiler.compile(source, { css: "external", ...options, ...base, generate })
  return { code: js.code, css: css?.code ?? "", warnings }
}

globalThis.compile = (input) => {
  try {
    const { warnings, ...result } = compile(input)
    return {
      ...result,
      warnings: warnings.filter(({ code }) => !code.startsWith("a11y")).map(({ message, start }) => ({
        message: message.split("\n")[0], line: start?.line ?? 0, column: (start?.column ?? -1) + 1,
      })),
    }
  } catch (error) {
    return { error: failure(error) }
  }
}
