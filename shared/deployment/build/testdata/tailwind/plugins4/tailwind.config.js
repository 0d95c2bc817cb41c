module.exports = { theme: { extend: { colors: { brand: "#123456" } } } }
