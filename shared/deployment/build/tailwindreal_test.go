package build

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// compilerPackages is the folder in which `make compilers` installs the packages, among them the real tools.
const compilerPackages = "../../../.build/compilers/node_modules"

// realTool is a program that compiles a style sheet with Tailwind CSS as it is published.
const realTool = `
console.log = () => {} // daisyUI prints its name
const [version, file] = process.argv.slice(1)
const { readFileSync } = require("fs")
const postcss = require("postcss")
const plugins = version === "3" ? [require("postcss-import"), require("tailwindcss3")]
	: [require("@tailwindcss/postcss")({ optimize: false })]
postcss(plugins).process(readFileSync(file, "utf8"), { from: file, map: false })
	.then(({ css }) => process.stdout.write(css), (error) => { console.error(error); process.exit(1) })`

// plugins are the packages of the projects in the comparison.
var plugins = strings.Fields("tailwindcss-animate tw-animate-css @tailwindcss/typography @tailwindcss/forms daisyui " +
	"mini-svg-data-uri postcss-selector-parser cssesc util-deprecate")

func tailwindPackages(t testing.TB) map[string][]byte {
	t.Helper()
	if _, err := os.Stat(compilerPackages); err != nil {
		t.Skip("the tools are not installed: run make compilers")
	}
	all := map[string][]byte{}
	for _, name := range plugins {
		maps.Copy(all, readTree(t, filepath.Join(compilerPackages, name), "/node_modules/"+name))
	}
	return all
}

// realCSS returns the style sheet that the real tool makes.
func realCSS(t *testing.T, version, file string, project map[string][]byte) []byte {
	t.Helper()
	folder := t.TempDir()
	for name, data := range project {
		target := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	modules, _ := filepath.Abs(compilerPackages)
	names, _ := filepath.Glob(modules + "/[a-z]*")
	scoped, _ := filepath.Glob(modules + "/@*/*")
	for _, to := range append(names, scoped...) {
		rel, _ := filepath.Rel(modules, to)
		link := filepath.Join(folder, "node_modules", rel)
		if rel == "tailwindcss" && version == "3" {
			to += "3"
		}
		if err := os.MkdirAll(filepath.Dir(link), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	node := exec.CommandContext(t.Context(), "node", "--preserve-symlinks", "-e", realTool, version, filepath.Join(folder, file))
	node.Dir, node.Stderr = folder, os.Stderr
	node.Env = append(os.Environ(), "NODE_ENV=production")
	css, err := node.Output()
	if err != nil {
		t.Fatal(err)
	}
	return css
}

// corpus returns the projects of the corpus that use Tailwind CSS, without the packages of their scripts: the page loads
// the style sheet only.
func corpus(t testing.TB) map[string]map[string][]byte {
	t.Helper()
	const folder = "../../../infra/corpus"
	all := map[string]map[string][]byte{}
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		manifest, err := os.ReadFile(filepath.Join(folder, entry.Name(), "package.json"))
		isSupported := !strings.Contains(string(manifest), `"vue"`) && !strings.Contains(string(manifest), `"svelte"`)
		if err == nil && isSupported && strings.Contains(string(manifest), `"tailwindcss"`) {
			all[entry.Name()] = readTree(t, filepath.Join(folder, entry.Name()), "")
		}
	}
	return all
}

var fontImport = regexp.MustCompile(`@import "@fontsource[^;]*;`)

// The style sheets of projects are the same as with the real tools, after both passed the bundler.
func TestTailwindReal(t *testing.T) {
	t.Parallel()
	packages := tailwindPackages(t)
	projects := corpus(t)
	maps.Copy(projects, features)
	for name, project := range projects {
		if _, isFeature := features[name]; !isFeature && os.Getenv("NIGHTLY") == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, sheet := "", ""
			for _, file = range []string{"/src/index.css", "/src/app.css", "/src/style.css", "/a.css"} {
				if data, ok := project[file]; ok {
					sheet = fontImport.ReplaceAllString(string(data), "")
					break
				}
			}
			project[file] = []byte(sheet)
			var manifest packageJSON
			_ = json.Unmarshal(project["/package.json"], &manifest)
			spec, _ := manifest.DevDependencies["tailwindcss"].(string)
			version := "4"
			if strings.HasPrefix(spec, "^3") {
				version = "3"
			}
			got := compiledSheet(t, file, project, packages)
			plain := maps.Clone(project)
			plain[file] = realCSS(t, version, file, project)
			delete(plain, "/package.json")
			want := compiledSheet(t, file, plain, packages)
			if got != want {
				i := 0
				for i < min(len(got), len(want)) && got[i] == want[i] {
					i++
				}
				begin := max(0, i-100)
				t.Errorf("%d and %d bytes differ at %d:\n%s\nwant\n%s", len(got), len(want), i,
					got[begin:min(len(got), i+200)], want[begin:min(len(want), i+200)])
			}
		})
	}
}

// compiledSheet returns the style sheet of a build in which the page loads only it.
func compiledSheet(t *testing.T, file string, project, packages map[string][]byte) string {
	t.Helper()
	project = maps.Clone(project)
	if page, ok := project["/index.html"]; ok {
		project["/kept.html.txt"] = nil
		project["/index.html"] = regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAll(page, nil)
	}
	project["/index.html"] = append([]byte(`<link rel="stylesheet" href="`+file+`">`), project["/index.html"]...)
	for name, text := range mustRun(t, sources{Files: project, Packages: packages, Framework: "static"}) {
		if strings.HasPrefix(name, "/assets/") && path.Ext(name) == ".css" {
			return text
		}
	}
	t.Fatal("there is no style sheet")
	return ""
}

const (
	uses3 = `{"devDependencies":{"tailwindcss":"^3.4.1"}}`
	uses4 = `{"devDependencies":{"tailwindcss":"^4.1.0"}}`
)

// features are small projects that use what the corpus does not.
var features = map[string]map[string][]byte{
	"plugins4": files("/package.json", uses4, "/a.css", `@import "tailwindcss"; @import "tw-animate-css";
		@plugin "@tailwindcss/typography"; @plugin "daisyui" { themes: light --default, dark; }
		@plugin "@tailwindcss/forms" { strategy: "class"; } @plugin "./own.mjs"; @config "./tailwind.config.js";
		.x { color: theme(colors.brand); @apply p-3; @variant hover { margin: 1px } }`,
		"/own.mjs", `import plugin from "tailwindcss/plugin"; import path from "path"
			export default plugin(({ addUtilities, matchUtilities }) => { addUtilities({ ".own": { content: JSON.stringify(path.join("a", "b")) } })
			matchUtilities({ tall: (value) => ({ height: value }) }, { values: { one: "1px" } }) })`,
		"/tailwind.config.js", `module.exports = { theme: { extend: { colors: { brand: "#123456" } } } }`,
		"/index.html", `<p class="own tall-one tall-[3px] prose lg:prose-xl btn btn-primary animate-in fade-in form-input bg-brand">`),
	"sources4": files("/package.json", uses4, "/src/a.css", "", "/a.css", `@import "tailwindcss" source("./src"); @source "./lib/*.js";
		@source not "./src/not"; @source inline("{hover:,}bg-red-{100..300..100}"); @source not inline("underline");
		@source "./node_modules/daisyui/functions";`,
		"/src/x.txt", "flex underline", "/src/not/x.txt", "grid", "/lib/a.js", "'p-4'", "/lib/a.ts", "'p-5'", "/x.html", "m-9"),
	"parts4": files("/package.json", uses4, "/a.css", `@layer theme, base, components, utilities;
		@import "tailwindcss/theme.css" layer(theme) theme(static) prefix(tw); @import "tailwindcss/utilities.css" layer(utilities);
		@import "./b/b.css";`, "/b/b.css", `.b { @apply tw:flex; background: url(./b.png) } @utility own-* { tab-size: --value(integer) }`,
		"/b/b.png", "png", "/x.html", "<p class='tw:own-4 tw:p-1'>"),
	"ignored4": files("/package.json", uses4, "/a.css", `@import "tailwindcss";`, "/.gitignore", "/gen\n*.tmp\n",
		"/gen/a.html", "flex", "/a.tmp", "grid", "/b.html", "p-1", "/x.png", "m-1", "/x.svg", "m-2", "/package-lock.json", "m-3", "/x.md", "{.m-4}"),
	"config3": files("/package.json", uses3, "/a.css", `@import "tailwindcss/base"; @import "tailwindcss/components";
		@import "tailwindcss/utilities"; @import "./c.css" screen; @layer components { .y { @apply font-bold } }
		@screen md { .z { color: theme('colors.brand.DEFAULT') } } @layer utilities { .v { margin: theme(spacing.4) } }`,
		"/c.css", ".c { background: url(#c); @apply shadow }",
		"/tailwind.config.ts", `import type { Config } from "tailwindcss"; import colors from "tailwindcss/colors"
			import { fontFamily } from "tailwindcss/defaultTheme"; import plugin from "tailwindcss/plugin"
			import preset from "./preset.cjs"; import * as path from "node:path"
			export default { presets: [preset], darkMode: ["class"], content: ["./*.html", "!./not.html", path.join(__dirname, "src/**/*.@(js|ts)"),
				{ raw: "<p class=underline>", extension: "html" }], prefix: "", safelist: ["bg-red-100", { pattern: /^p-[12]$/, variants: ["hover"] }],
				theme: { extend: { fontFamily: { sans: ["Inter", ...fontFamily.sans] }, colors: { brand: { DEFAULT: colors.sky[500] } } } },
				plugins: [require("tailwindcss-animate"), require("@tailwindcss/typography"), require("@tailwindcss/forms"),
					plugin(({ addVariant, addBase }) => { addVariant("third", "&:nth-child(3)"); addBase({ h1: { color: "red" } }) })],
			} satisfies Config`,
		"/preset.cjs", `module.exports = { theme: { extend: { spacing: { huge: process.env.NODE_ENV === "production" ? "99rem" : "1px" } } } }`,
		"/src/a.ts", `"y p-huge third:flex prose animate-in"`, "/src/a.css", "grid", "/not.html", "hidden",
		"/index.html", `<p class="v z c y font-sans bg-brand/50 form-input">`),
}
