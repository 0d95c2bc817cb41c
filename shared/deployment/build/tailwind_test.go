package build

import (
	"os"
	"strings"
	"testing"

	"devplatform/shared/deployment/failure"
)

// sheetOf returns the style sheet of a project whose page loads /a.css.
func sheetOf(t *testing.T, packages map[string][]byte, pairs ...string) string {
	t.Helper()
	return compiledSheet(t, "/a.css", files(pairs...), packages)
}

func TestTailwind(t *testing.T) {
	t.Parallel()
	const page = "<p class='flex md:p-4'>"
	for name, c := range map[string]struct {
		project    []string
		want, lack string
	}{
		"4 by default": {[]string{"/a.css", `@import "tailwindcss"`, "/b.html", page}, ".flex{display:flex}", "@tailwind"},
		"3 by its layers": {[]string{"/a.css", "@tailwind base; @tailwind utilities", "/b.html", page, "/tailwind.config.js",
			"module.exports = { content: ['b.html'] }"}, "--tw-pan-x: ;", "@layer"},
		"a sheet that imports one": {[]string{"/a.css", `@import "./b/t.css"; @import "./b/c.css";`, "/b/t.css",
			`@import "tailwindcss/utilities"; @theme { --color-x: #123 }`, "/b/c.css",
			".c { @apply bg-x; background-image: url(./p.png) }", "/b/p.png", "png"}, `url("/assets/p-`, "@apply"},
		"3 with URLs of imported sheets": {[]string{"/package.json", uses3, "/a.css", `@import "./b/c.css"; @tailwind utilities;`,
			"/b/c.css", ".c { background-image: url(./p.png) }", "/b/p.png", "png"}, `url("/assets/p-`, "./p.png"},
		"3 with nested rules": {[]string{"/package.json", uses3, "/a.css", ".a { @screen md { .b & { @apply flex } } }",
			"/postcss.config.js", "export default { plugins: { 'tailwindcss/nesting': {}, tailwindcss: {} } }"},
			"@media(min-width:768px){.b .a{display:flex}}", "@screen"},
		"a plain sheet": {[]string{"/a.css", ".theme { color: red } /* @apply x */"}, ".theme{color:red}", "tailwind"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := sheetOf(t, nil, c.project...)
			if !strings.Contains(got, c.want) || strings.Contains(got, c.lack) {
				t.Errorf("got %s, want %q and not %q", got, c.want, c.lack)
			}
		})
	}
}

// A project that asks for a version that is not there gets the nearest one, and a line in the log.
func TestTailwindVersions(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{"~3.3.0": "3.4.19", "4.0.x": "4.3.5", "^4": "", "latest": ""} {
		out, err := run(t, sources{Framework: "static", Files: files("/index.html", "<link rel=stylesheet href=a.css>",
			"/a.css", "a { @apply flex }", "/package.json", `{"devDependencies":{"tailwindcss":"`+spec+`"}}`)})
		if got := strings.Join(out.Notes, "\n"); err != nil || strings.Contains(got, "Tailwind") != (want != "") ||
			!strings.Contains(got, want) {
			t.Errorf("%s: got %q, %v, want %q", spec, got, err, want)
		}
	}
}

func TestTailwindErrors(t *testing.T) {
	t.Parallel()
	const uses = `@import "tailwindcss";`
	config := func(code string) []string {
		return []string{"/package.json", uses3, "/a.css", "\n@tailwind base;", "/tailwind.config.ts", code}
	}
	packages := files("/node_modules/p/package.json", `{"name":"p","exports":{".":"./p.js","./p.css":"./p.css"}}`,
		"/node_modules/p/p.js", `module.exports = require("fs").readFileSync("/etc/passwd")`,
		"/node_modules/p/p.css", ".p { background: url(../../a.png) }", "/node_modules/q/index.css", `@import "../../b.css";`)
	for name, c := range map[string]struct {
		project []string
		want    failure.Error
	}{
		"class":              {[]string{"/a.css", uses + "\n.a { @apply unknown; }"}, failure.Error{Message: "unknown", Path: "/a.css", Line: 2}},
		"class 3":            {[]string{"/package.json", uses3, "/a.css", "\n.a { @apply unknown; }"}, failure.Error{Message: "unknown", Path: "/a.css", Line: 2}},
		"version":            {[]string{"/package.json", `{"dependencies":{"tailwindcss":"^2"}}`, "/a.css", uses}, failure.Error{Code: failure.FrameworkUnsupported, Message: "^3.4.0 or ^4.0.0", Path: "/package.json"}},
		"sheet":              {[]string{"/a.css", uses + "\n@import './b.css';"}, failure.Error{Message: "/b.css does not exist", Path: "/a.css", Line: 2}},
		"module":             {[]string{"/a.css", uses + "@plugin './b.js';"}, failure.Error{Message: "/b.js does not exist", Path: "/a.css"}},
		"package":            {[]string{"/a.css", uses + "@plugin 'none';"}, failure.Error{Code: failure.DependencyNotFound, Message: `"none" is not installed`, Path: "/a.css"}},
		"outside":            {[]string{"/a.css", uses + "@import '../../a.css';"}, failure.Error{Message: "is outside of the project", Path: "/a.css"}},
		"outside 2":          {[]string{"/a.css", uses + "@config '../../../../../../../../../../etc/passwd';"}, failure.Error{Message: "is outside of the project", Path: "/a.css"}},
		"URL":                {[]string{"/a.css", uses + "@import 'p/p.css';"}, failure.Error{Message: "outside of the project", Path: "/a.css"}},
		"a package's import": {[]string{"/a.css", uses + "@import 'q/index.css';", "/b.css", "b {}"}, failure.Error{Message: "refers to files outside of packages", Path: "/a.css"}},
		"manifest":           {[]string{"/a.css", uses + "@plugin './package.json';", "/package.json", "{}"}, failure.Error{Message: "never bundled", Path: "/a.css"}},
		"fs":                 {config("import fs from 'fs'\nexport default { content: [fs.x] }"), failure.Error{Message: "can use only path", Path: "/tailwind.config.ts", Line: 1}},
		"fs in a package":    {config("\nexport default { plugins: [require('p')] }"), failure.Error{Message: "fs is a module of Node.js"}},
		"throw":              {config("type A = 1\n\nfunction f() {\n  return null.x\n}\nexport default f()"), failure.Error{Message: "TypeError", Path: "/tailwind.config.ts", Line: 4}},
		"syntax":             {config("\nexport default {"), failure.Error{Path: "/tailwind.config.ts", Line: 2}},
		"a function":         {config("export default { plugins: [\n() => { throw new Error('own') }] }"), failure.Error{Message: "own", Path: "/tailwind.config.ts", Line: 2}},
		"memory":             {config("const all = []; for (;;) all.push(new Uint8Array(1 << 20))"), failure.Error{Message: "256 MiB", Path: "/a.css", Line: 2}},
		"nesting":            {config("const f = () => f(); f()"), failure.Error{Message: "nested too deeply", Path: "/a.css", Line: 2}},
		"plugins":            {config("export default { plugins: Array.from({ length: 1e9 }, () => () => {}) }"), failure.Error{Message: "", Path: "/a.css", Line: 2}},
		"loop":               {config("for (;;);"), failure.Error{Message: "10 seconds", Path: "/a.css", Line: 2}},
		"expression":         {config("export default { plugins: [() => /^(a+)+$/.test('a'.repeat(99) + 'b')] }"), failure.Error{Message: "10 seconds", Path: "/a.css", Line: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.want.Message == "10 seconds" && os.Getenv("NIGHTLY") == "" {
				t.Skip("takes 10 seconds")
			}
			if c.want.Code == "" {
				c.want.Code = failure.BuildFailed
			}
			project := files(c.project...)
			project["/index.html"] = []byte("<link rel=stylesheet href=a.css>")
			_, err := run(t, sources{Files: project, Packages: packages, Framework: "static"})
			got, ok := err.(*failure.Error) //nolint:errorlint // the error itself
			if !ok || got.Code != c.want.Code || !strings.Contains(got.Message, c.want.Message) || got.Path != c.want.Path && c.want.Path != "" ||
				got.Line != c.want.Line && c.want.Line != 0 {
				t.Errorf("got %v, want %v", err, &c.want)
			}
		})
	}
}

// What a configuration does to the compiler changes no other build.
func TestTailwindLeavesNoTrace(t *testing.T) {
	t.Parallel()
	build := func(config string) string {
		out, err := run(t, sources{Framework: "static", Files: files("/index.html", "<link rel=stylesheet href=a.css><p class=flex>",
			"/package.json", uses3, "/a.css", "@tailwind utilities; .b { @apply p-2 }", "/tailwind.config.js", config)})
		if err != nil {
			return err.Error()
		}
		for _, f := range out.Files {
			if f.Hashed {
				return string(f.Data)
			}
		}
		return ""
	}
	const plain = "module.exports = { content: ['*.html'] }"
	before := build(plain)
	attacked := build("Object.prototype.color = 'red'; Array.prototype.map = JSON.parse = null\n" + plain)
	if after := build(plain); after != before || attacked == before || !strings.Contains(before, ".flex{") {
		t.Errorf("before %s\nattacked %s\nafter %s", before, attacked, after)
	}
}
