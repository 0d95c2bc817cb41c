// The global objects of browsers that the compiler of Sass uses, as far as it uses them.
globalThis.URL = class URL {
  constructor(text) {
    this.href = String(text)
  }
  toString() {
    return this.href
  }
}
globalThis.location = { href: "project:/" }
