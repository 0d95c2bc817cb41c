import url from './gcd.wasm.b64?url'

type Gcd = (a: number, b: number) => number

/** Loads the greatest common divisor as WebAssembly. The module is text in base64, so that the project has no binary files. */
export async function loadGcd(): Promise<Gcd> {
  const text = (await (await fetch(url)).text()).trim()
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  const { instance } = await WebAssembly.instantiate(bytes)
  return instance.exports.gcd as Gcd
}
