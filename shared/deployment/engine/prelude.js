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

  const { parse, stringify } = JSON
  Object.defineProperty(globalThis, "callJSON", { value: async (f, input) => stringify(await f(parse(input)) ?? null) })
}
