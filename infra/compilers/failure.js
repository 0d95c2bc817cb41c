// outside throws a new error if the interpreter reached a limit, because compilers catch the interpreter's error, or
// change its name.
export const outside = (error) => {
  const [, text] = /(stack overflow|out of memory|^Not enough stack space)/.exec(error?.message?.split("\n")[0]) ?? []
  if (text) {
    throw new InternalError(text === "out of memory" ? text : "stack overflow")
  }
}
