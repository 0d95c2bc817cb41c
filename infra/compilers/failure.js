// outside throws an error of the interpreter again, because compilers change its name, or catch it.
export const outside = (error) => {
  const [, text] = /(stack overflow|out of memory|^Not enough stack space)/.exec(error?.message?.split("\n")[0]) ?? []
  if (text) {
    throw new InternalError(text === "out of memory" ? text : "stack overflow")
  }
}
