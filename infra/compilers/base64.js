// atob is the only function of browsers that the compiler of Vue calls when it starts.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

globalThis.atob = (text) => {
  let bits = 0
  let count = 0
  let out = ""
  for (const char of text.replace(/=+$/, "")) {
    bits = (bits << 6) | alphabet.indexOf(char)
    count += 6
    if (count >= 8) {
      count -= 8
      out += String.fromCharCode((bits >> count) & 255)
    }
  }
  return out
}
