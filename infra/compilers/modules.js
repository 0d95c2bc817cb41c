// evaluated returns a module that Go has loaded into globalThis.modules, as Tailwind CSS expects it.
export const evaluated = (answer) => {
  const { path, base, key } = JSON.parse(answer)
  const module = globalThis.modules[key]()
  return { path, base, module: module?.default ?? module }
}

globalThis.modules = {}
