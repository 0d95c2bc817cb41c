// outside throws an error of the interpreter again, because compilers add texts to it, or catch it.
export const outside = (error) => {
  const text = /stack overflow|out of memory/.exec(error?.message)
  if (error?.name === "InternalError" && text) {
    throw new InternalError(text[0])
  }
}
