package build

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	const react = `import react from "@vitejs/plugin-react-swc"; import { defineConfig, loadEnv } from "vite"; import path from "path";
import { fileURLToPath, URL } from "node:url";
`
	for config, want := range map[string]string{
		// Aliases.
		react + `export default defineConfig({ plugins: [react()], server: { port: 8080 },
			resolve: { alias: { "~": path.resolve(__dirname, "./lib") } } })`: "LIB",
		react + `export default defineConfig(({ mode }) => ({ plugins: [react(), mode === "development" && tagger()].filter(Boolean),
			resolve: { alias: { "~": fileURLToPath(new URL("./lib", import.meta.url)) } } }))`: "LIB",
		`const root = process.cwd(); export default { resolve: { alias: [{ find: "~", replacement: root + "lib" }] } } satisfies X`: "LIB",
		`module.exports = {
			resolve: { alias: { "~/": "/lib/" } } }`: "LIB",
		`export default { resolve: { alias: { "~": new URL("./lib", import.meta.url).pathname } } }`: "LIB",
		`import { resolve } from "path"; const r = (p: string) => resolve(__dirname, p)
			export default { resolve: { alias: { "~": ` + "`${\"/\"}lib`" + ` } } }`: "LIB",
		`export default { resolve: { alias: { "~": "p/sub" } } }`: "PACKAGE",
		// Constants.
		`export default { define: { __V__: JSON.stringify("1.2"), "a.b": 3, global: "globalThis" } }`: `"1.2",3,globalThis`,
		react + `export default defineConfig(({ mode }) => { const env = loadEnv(mode, process.cwd(), "");
			return { define: { __V__: JSON.stringify(env.VITE_NAME), "a.b": true, global: {} } } })`: `"shop",!0`,
	} {
		t.Run(config, func(t *testing.T) {
			t.Parallel()
			in := withPage(files("/main.js", `try { require("~/x") } catch {}; console.log(__V__, a.b, global)`,
				"/vite.config.ts", config, "/lib/x.ts", "console.log('LIB' as string)", "/.env", "VITE_NAME=shop"),
				files("/node_modules/p/sub/x.js", "console.log('PACKAGE')"))
			out, err := run(t, in)
			if err != nil || len(out.Warnings) > 0 {
				t.Fatalf("got %v, warnings %q", err, out.Warnings)
			}
			var code strings.Builder
			for _, f := range out.Files {
				code.Write(f.Data)
			}
			if !strings.Contains(code.String(), want) {
				t.Errorf("no %s in %s", want, code.String())
			}
		})
	}
}

func TestSettingsOfFolders(t *testing.T) {
	t.Parallel()
	out := mustRun(t, sources{Files: files("/vite.config.js", `export default { root: "./client", publicDir: "static" }`,
		"/package.json", appManifest, "/client/index.html",
		`<link rel="icon" href="/a.svg"><script type="module" src="/src/main.js"></script>`, "/client/static/a.svg", "<svg/>",
		"/client/src/main.js", `import "/src/other.js"; import "../../shared/x.js"; import logo from "/a.svg"; console.log(logo)`,
		"/client/src/other.js", "", "/shared/x.js", `console.log("shared")`, "/server/a.json", "{}",
		"/client/data.json", "{}")})
	wantPaths(t, out, "/a.svg", "/assets/main-HASH.js", "/data.json", "/index.html")
	if !strings.Contains(fmt.Sprint(out), `console.log("shared")`) || !strings.Contains(fmt.Sprint(out), `"/a.svg"`) {
		t.Errorf("got %v", out)
	}
}

// The folder that vite.config names as root has its own files of settings. Its variables replace those at the root of
// the project, and define replaces both.
func TestHiddenSettingsBelowRoot(t *testing.T) {
	t.Parallel()
	out, err := run(t, sources{Files: files("/vite.config.js",
		`export default { root: "client", define: { "import.meta.env.VITE_D": 4 } }`,
		"/client/index.html", `<title>%VITE_A%</title><script type="module" src="/main.js"></script>`, "/client/main.js",
		`const e = import.meta.env; console.log([e.VITE_A, e.VITE_B, e.VITE_C, import.meta.env.VITE_D, a ?? b])`,
		"/.env", "VITE_A=root\nVITE_B=root b", "/.env.local", "VITE_C=root c", "/client/.env", "VITE_A=client\nVITE_D=d",
		"/client/.env.production", "VITE_C=client c", "/server/.env", "VITE_B=server",
		"/client/.browserslistrc", "chrome 79", "/client/.postcssrc", `{"plugins":{"a":{}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, f := range out.Files {
		text.Write(f.Data)
	}
	text.WriteString(strings.Join(out.Warnings, "\n"))
	for _, want := range []string{`<title>client</title>`, `VITE_A:"client"`, `VITE_B:"root b"`, `VITE_C:"client c"`,
		`,4,`, "a!=null?a:b", "/client/.postcssrc:1: The plugin a"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %s in %s", want, text.String())
		}
	}
}

// The fallback for @ belongs to the folder of the site.
func TestAliasBelowRoot(t *testing.T) {
	t.Parallel()
	out := mustRun(t, sources{Files: files("/vite.config.js", `export default { root: "client" }`, "/client/index.html",
		`<script type="module" src="/main.js"></script>`, "/client/main.js", `import "@/a"`, "/client/src/a.js",
		`console.log("below")`, "/src/a.js", `console.log("beside")`)})
	if text := fmt.Sprint(out); !strings.Contains(text, "below") || strings.Contains(text, "beside") {
		t.Error(text)
	}
}

func TestPostCSS(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, text string
		want       []string // the beginnings of the warnings
	}{
		"known": {"/postcss.config.js", `import tailwind from "@tailwindcss/postcss"; import prefixer from "autoprefixer"
			export default { plugins: [tailwind(), prefixer, require("postcss-import")({})] }`, nil},
		"object": {"/postcss.config.cjs", "module.exports = { plugins: {\n'postcss-a': {}, tailwindcss: {},\nb: false, c: {} } }",
			[]string{
				"/postcss.config.cjs:3: The plugin c of PostCSS is not used", "/postcss.config.cjs:2: The plugin postcss-a",
			},
		},
		"list": {"/postcss.config.mjs", "import a from 'postcss-a';\nexport default { plugins: [a({ b: 1 }),\nother()] }",
			[]string{
				"/postcss.config.mjs:2: A plugin of PostCSS is not understood", "/postcss.config.mjs:1: The plugin postcss-a",
			},
		},
		"hidden": {"/.postcssrc", "{\n\"plugins\": { \"a\": {} } }", []string{"/.postcssrc:2: The plugin a"}},
		"YAML": {
			"/.postcssrc.yml", "plugins:\n  a: {}", []string{"/.postcssrc.yml:1: The configuration of PostCSS is not"},
		},
		"manifest": {"/package.json", "{\n\"postcss\":\n{\"plugins\":[\"a\"]}}", []string{"/package.json:3: The plugin a"}},
		"nothing":  {"/postcss.config.json", "{}", nil},
		"computed": {
			"/postcss.config.ts", "export default make()", []string{"/postcss.config.ts:1: The configuration of PostCSS"},
		},
	} {
		wantWarnings(t, name, files("/main.js", "", c.file, c.text), c.want)
	}
}

// wantWarnings builds a page with a script, and checks the beginnings of the warnings.
func wantWarnings(t *testing.T, name string, in map[string][]byte, want []string) {
	t.Helper()
	out, err := run(t, withPage(in, nil))
	if err != nil || len(out.Warnings) != len(want) {
		t.Errorf("%s: got %q, error %v, want %q", name, out.Warnings, err, want)
		return
	}
	for i, begin := range want {
		if !strings.HasPrefix(out.Warnings[i], begin) {
			t.Errorf("%s: got %q, want %q", name, out.Warnings[i], begin)
		}
	}
}

func TestBrowsers(t *testing.T) {
	t.Parallel()
	const code = "console.log(a?.b, a ??= 1)" // of Chrome 80 and 85
	for name, c := range map[string]struct {
		file, text, want string // a part of the bundle
		warnings         []string
	}{
		"none": {"/a.txt", "", "a?.b,a??=1", nil},
		"old":  {"/.browserslistrc", "# c\nchrome >= 79 # d\nsafari 12-15", "a==null?void 0:a.b", nil},
		"new":  {"/.browserslistrc", "last 2 chrome versions, > 0.5% and not dead or not ie 11", "a?.b,a??=1", nil},
		"not UTF-8": {"/.browserslistrc", "\nchrome \xff", "a?.b,a??=1",
			[]string{`/.browserslistrc:2: The query "chrome \xff"`}},
		"sections": {"/.browserslistrc", "[development]\nchrome 119\n[production staging]\nchrome 120", "a?.b,a??=1", nil},
		"manifest": {
			"/package.json", `{"browserslist":{"production":["ios_saf 13"],"development":"chrome 120"}}`, "a==null", nil,
		},
		"ancient": {"/.browserslistrc", "\nie 11\nchrome > 30", "a==null",
			[]string{
				`/.browserslistrc:2: The query "ie 11" is not understood`, "/.browserslistrc:3: Sites do not work in chrome > 30",
			},
		},
		"unknown": {"/package.json", "{\"browserslist\":\n\"extends x\"}", "a?.b",
			[]string{`/package.json:2: The query "extends x" is not understood`}},
		"too high": {"/.browserslistrc", "\nchrome >= 9223372036854775808", "a?.b,a??=1",
			[]string{`/.browserslistrc:2: The query "chrome >= 9223372036854775808" is not understood`}},
		"too long": {"/.browserslistrc", "\n" + strings.Repeat("x", 1_000_000), "a?.b,a??=1",
			[]string{`/.browserslistrc:2: The query "xxx`}},
	} {
		in := files("/main.js", code+";await 1", c.file, c.text)
		wantWarnings(t, name, in, c.warnings)
		if got := bundleOf(t, in, nil); !strings.Contains(got, c.want) {
			t.Errorf("%s: no %s in %s", name, c.want, got)
		}
	}
}

// A setting that the build does not understand leads to a warning with its line.
func TestSettingsThatAreNotUnderstood(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		"export default {\n base: '/repo/' }":                                         `/vite.config.js:2: base is "/repo/", but a site is served at /`,
		"export default {\n resolve: { alias: {\n '@lib': find() } } }":               `/vite.config.js:3: The alias "@lib" is not understood`,
		"export default {\n define: {\n __V__: version } }":                           `/vite.config.js:3: The value of __V__ in define`,
		"export default {\n define: { __V__: 'a + b' } }":                             `/vite.config.js:2: The value of __V__ in define`,
		"export default {\n define: { __V__: 'new.target' } }":                        `/vite.config.js:2: The value of __V__ in define`,
		"export default {\n define: { class: 1 } }":                                   `/vite.config.js:2: The value of class in define`,
		"export default {\n plugins: [],\n\n envPrefix: 'APP_' }":                     `/vite.config.js:4: The option envPrefix is not understood`,
		"export default {\n resolve: { alias: [{ find: /^~/, replacement: '/' }] } }": `/vite.config.js:2: An alias is not understood`,
		"export default make()":                                                       `/vite.config.js:1: The settings are not understood`,
		"export default {":                                                            `/vite.config.js:1: The settings are not understood`,
		"export default {\n resolve: make() }":                                        `/vite.config.js:2: resolve is not understood`,
		nested(12_000, "[$]"):                                                         `/vite.config.js:1: The value of __V__ in define`,
		nested(30, "[$, { b: $ }]"):                                                   `/vite.config.js:1: The value of __V__ in define`,
		strings.Replace(nested(16, "[$, $]"), "a16 }", "JSON.stringify(a16) }", 1):    `/vite.config.js:1: The value of __V__ in define`,
	} {
		out, err := run(t, withPage(files("/main.js", "", "/vite.config.js", config), nil))
		if err != nil || !slices.ContainsFunc(out.Warnings, func(w string) bool { return strings.HasPrefix(w, want) }) {
			t.Errorf("%s: got %v, %q, want %s", config, err, out.Warnings, want)
		}
	}
}

// nested returns settings with a constant of n variables. value is the value of each variable. In value, $ stands for
// the previous variable.
func nested(n int, value string) string {
	var code strings.Builder
	code.WriteString("var a0 = []")
	for i := range n {
		fmt.Fprintf(&code, ", a%d = %s", i+1, strings.ReplaceAll(value, "$", fmt.Sprint("a", i)))
	}
	fmt.Fprintf(&code, "; export default { define: { __V__: a%d } }", n)
	return code.String()
}
