import type { Config } from "tailwindcss"; import colors from "tailwindcss/colors"
			import { fontFamily } from "tailwindcss/defaultTheme"; import plugin from "tailwindcss/plugin"
			import preset from "./preset.cjs"; import * as path from "node:path"
			export default { presets: [preset], darkMode: ["class"], content: ["./*.html", "!./not.html", path.join(__dirname, "src/**/*.@(js|ts)"),
				{ raw: "<p class=underline>", extension: "html" }], prefix: "", safelist: ["bg-red-100", { pattern: /^p-[12]$/, variants: ["hover"] }],
				theme: { extend: { fontFamily: { sans: ["Inter", ...fontFamily.sans] }, colors: { brand: { DEFAULT: colors.sky[500] } } } },
				plugins: [require("tailwindcss-animate"), require("@tailwindcss/typography"), require("@tailwindcss/forms"),
					plugin(({ addVariant, addBase }) => { addVariant("third", "&:nth-child(3)"); addBase({ h1: { color: "red" } }) })],
			} satisfies Config
