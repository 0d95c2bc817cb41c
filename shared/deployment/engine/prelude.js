// The global objects that programs expect, without a clock and without random numbers.
{
  const hide = (target, name, value) => Object.defineProperty(target, name, { value, writable: true, configurable: true })

  const NativeDate = Date
  const FixedDate = function Date(...values) {
    return new.target ? Reflect.construct(NativeDate, values.length ? values : [0], new.target) : new NativeDate(0).toString()
  }
  FixedDate.prototype = NativeDate.prototype
  hide(NativeDate.prototype, "constructor", FixedDate)
  hide(FixedDate, "UTC", NativeDate.UTC)
  hide(FixedDate, "parse", NativeDate.parse)
  hide(FixedDate, "now", () => 0)
  hide(globalThis, "Date", FixedDate)
  hide(globalThis, "performance", { now: () => 0, mark() {}, measure() {} })

  let seed = 1
  hide(Math, "random", () => (seed = (seed * 48271) % 2147483647) / 2147483647)

  const ignore = () => {}
  hide(globalThis, "console", { log: ignore, info: ignore, warn: ignore, error: ignore, debug: ignore, trace: ignore })
  hide(globalThis, "self", globalThis)
  hide(globalThis, "global", globalThis)
  hide(globalThis, "process", {
    env: { NODE_ENV: "production" }, argv: [], platform: "linux", version: "v22.0.0", versions: { node: "22.0.0" },
    cwd: () => "/", emitWarning: ignore, nextTick: (f, ...values) => Promise.resolve().then(() => f(...values)),
  })

  const clone = (value, seen) => {
    if (typeof value === "function" || typeof value === "symbol") throw new TypeError("a function cannot be cloned")
    if (typeof value !== "object" || value === null) return value
    if (seen.has(value)) return seen.get(value)
    if (value instanceof NativeDate) return new NativeDate(value.getTime())
    if (value instanceof RegExp) return new RegExp(value.source, value.flags)
    const copy = Array.isArray(value) ? [] : value instanceof Map ? new Map() : value instanceof Set ? new Set() : {}
    seen.set(value, copy)
    if (copy instanceof Map) value.forEach((item, key) => copy.set(clone(key, seen), clone(item, seen)))
    else if (copy instanceof Set) value.forEach((item) => copy.add(clone(item, seen)))
    else for (const key of Object.keys(value)) copy[key] = clone(value[key], seen)
    return copy
  }
  hide(globalThis, "structuredClone", (value) => clone(value, new Map()))

  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  hide(globalThis, "atob", (text) => {
    let bits = 0, count = 0, out = ""
    for (const c of String(text).replace(/[\s=]/g, "")) {
      if (!digits.includes(c)) throw new TypeError("the text is not in base64")
      bits = (bits << 6 | digits.indexOf(c)) & 0xffff
      if ((count += 6) >= 8) out += String.fromCharCode(bits >> (count -= 8) & 255)
    }
    return out
  })
  hide(globalThis, "btoa", (text) => {
    let out = ""
    for (let i = 0; i < text.length; i += 3) {
      const [a, b, c] = [0, 1, 2].map((n) => text.charCodeAt(i + n))
      const bits = a << 16 | b << 8 | c
      out += [18, 12, 6, 0].map((n, j) => i + j > text.length ? "=" : digits[bits >> n & 63]).join("")
    }
    return out
  })

  const { parse, stringify } = JSON
  Object.defineProperty(globalThis, "callJSON", { value: async (f, input) => stringify(await f(parse(input)) ?? null) })
}
