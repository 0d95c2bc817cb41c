module.exports = { theme: { extend: { spacing: { huge: process.env.NODE_ENV === "production" ? "99rem" : "1px" } } } }
