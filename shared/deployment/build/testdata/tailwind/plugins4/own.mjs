import plugin from "tailwindcss/plugin"; import path from "path"
			export default plugin(({ addUtilities, matchUtilities }) => { addUtilities({ ".own": { content: JSON.stringify(path.join("a", "b")) } })
			matchUtilities({ tall: (value) => ({ height: value }) }, { values: { one: "1px" } }) })
