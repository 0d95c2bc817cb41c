package build

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"devplatform/infra/testmode"
	"devplatform/shared/deployment/failure"
)

const uses3 = `{"devDependencies":{"tailwindcss":"^3.4.1"}}`

// sheetOf returns the style sheet of a project whose page loads /a.css.
func sheetOf(t *testing.T, packages map[string][]byte, pairs ...string) string {
	t.Helper()
	return compiledSheet(t, "/a.css", files(pairs...), packages)
}

func TestTailwind(t *testing.T) {
	t.Parallel()
	const page = "<p class='flex md:p-4'>"
	for name, c := range map[string]struct {
		project   []string
		want, not string
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
		"4 with a font after a sheet": {[]string{"/a.css",
			`@import "./b.css"; @import url('https://f/?b;c'); .d { @apply flex }`,
			"/b.css", ".b { e: f }"}, "@import\"https://f/?b;c\";.b{e:f}.d{display:flex}", "}@import"},
		"3 with fonts after rules": {[]string{"/package.json", uses3, "/a.css", "@import './b.css'; @tailwind utilities;\n" +
			"@import 'https://f/?a;b';",
			"/b.css", "@charset 'utf-8'; /* a */ .b { e: f }\n@import url( \"//g/?a;b\" )\nscreen;"},
			`@import"//g/?a;b"screen;@import"https://f/?a;b";.b{e:f}`, "}@import"},
		"3 with a configuration of PostCSS": {[]string{"/package.json", uses3, "/a.css", "@tailwind utilities",
			"/b.html", page, "/postcss.config.js", "module.exports = { plugins: { tailwindcss: { config: './c/own.js' }, autoprefixer: {} } }",
			"/c/own.js", "module.exports = { content: ['*.html'] }"}, ".flex{display:flex}", "@tailwind"},
		"3 without a folder": {[]string{"/package.json", uses3, "/a.css", "@tailwind utilities", "/b.html", page,
			"/no/c.html", "<p class=grid>", "/tailwind.config.js",
			"module.exports = { content: ['./**/*.html', '!./no'] }"}, ".flex{", ".grid"},
		"3 with extended patterns": {[]string{"/package.json", uses3, "/a.css", "@tailwind utilities", "/b/c.d.html",
			"<p class='grid flex'>", "/no.html", "<p class='hidden'>", "/tailwind.config.js",
			"module.exports = { content: [require('path').join(__dirname, '{a,b}/**/*!(*.spec|*.x).?(x)+(html|ts)')] }"},
			".flex{display:flex}.grid", "hidden"},
		"a plain sheet with a font": {[]string{"/a.css", ".a { b: c }\n@import 'https://f';\n.d { e: f }"},
			`@import"https://f";.a{b:c}.d{e:f}`, "}@import"},
		"a plain sheet": {[]string{"/a.css", ".theme { color: red } /* @apply x */"}, ".theme{color:red}", "tailwind"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := sheetOf(t, nil, c.project...)
			if !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
				t.Errorf("got %s, want %q and not %q", got, c.want, c.not)
			}
		})
	}
}

// The style elements of pages are compiled in projects that use Tailwind CSS, and stay in their pages.
func TestTailwindInPages(t *testing.T) {
	t.Parallel()
	const style = "<style media=print>.a { @apply p-4; color: theme('colors.red.500'); background: url(./i.png) }</style>"
	const plain = `<style type="text/tailwindcss">@tailwind base</style><style>.theme { a: b }</style>`
	in := files("/index.html", "<p class=flex>"+style+plain, "/docs/a.html", "<style>@tailwind utilities</style>",
		"/docs/i.png", "", "/i.png", "PNG", "/package.json", uses3,
		"/tailwind.config.js", "export default { content: ['*.html'] }")
	out := mustRun(t, sources{Framework: "static", Files: in})
	for _, part := range []string{
		`<style media="print">.a{`, "padding:1rem", "color:#ef4444", `url("/assets/i-`, "}</style>" + plain,
	} {
		if !strings.Contains(out["/index.html"], part) {
			t.Errorf("want %q in %s", part, out["/index.html"])
		}
	}
	if page := out["/docs/a.html"]; !strings.HasPrefix(page, "<style>.flex{display:flex}") {
		t.Errorf("got %s", page)
	}
	for name := range out {
		if strings.HasSuffix(name, ".css") {
			t.Errorf("the style sheet is also published as %s", name)
		}
	}
	in["/index.html"] = []byte("<p>\n<style>\n.a { color: red }\n.b { @apply none }</style>")
	wantFailure(t, sources{Framework: "static", Files: in}, failure.Error{Code: failure.BuildFailed,
		Message: "The `none` class does not exist", Path: "/index.html", Line: 4, Column: 6})
	delete(in, "/package.json")
	delete(in, "/tailwind.config.js")
	in["/docs/a.html"] = nil
	if page := mustRun(t, sources{Framework: "static", Files: in})["/index.html"]; page != string(in["/index.html"]) {
		t.Errorf("a project without Tailwind CSS: got %s", page)
	}
}

// The versions are the versions of the packages in infra/compilers.
func TestTailwindPackages(t *testing.T) {
	t.Parallel()
	manifest, err := os.ReadFile("../../../infra/compilers/package.json")
	for name, version := range tailwindVersions {
		want := fmt.Sprintf("%q: %q", strings.Replace(name, "tailwind", "tailwindcss", 1), "npm:tailwindcss@"+version)
		if err != nil || !strings.Contains(string(manifest), want) {
			t.Errorf("%v: %s does not have %s", err, manifest, want)
		}
	}
}

// A project that asks for a version that no compiler has gets the compiler of the nearest version. The log says so, and
// also names content that no file matches.
func TestTailwindLog(t *testing.T) {
	testmode.SkipIfShort(t)
	t.Parallel()
	for _, c := range []struct{ spec, config, want string }{
		{"~3.3.0", "", "3.4.19"},
		{"4.0.x", "", "4.3.5"},
		{"^4", "", ""},
		{"latest", "", ""},
		{"^3.4.0", "module.exports = { content: ['*.html'] }", ""},
		{"^3.4.0", "module.exports = { content: ['src/*.html'] }", "No file matches content"},
		{"^3.4.0", "module.exports = () => ({ content: ['*.html'] })", "No file matches content"},
	} {
		out, err := run(t, sources{Framework: "static", Files: files("/index.html", "<link rel=stylesheet href=a.css>",
			"/a.css", "a { @apply flex }", "/package.json", `{"devDependencies":{"tailwindcss":"`+c.spec+`"}}`,
			"/tailwind.config.js", cmp.Or(c.config, "module.exports = { content: ['*.html'] }"))})
		got := strings.Join(append(out.Notes, out.Warnings...), "\n")
		if err != nil || strings.Contains(got, "Tailwind") != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: got %q, %v, want %q", c.spec, c.config, got, err, c.want)
		}
	}
}

func TestTailwindErrors(t *testing.T) {
	testmode.SkipIfShort(t)
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
		want    string // the place, and a part of the message
	}{
		"class": {
			[]string{"/a.css", uses + "\n.a { @apply unknown; }"},
			`/a.css:2|unknown`,
		},
		"class 3": {
			[]string{"/package.json", uses3, "/a.css", "\n.a { @apply unknown; }"},
			`/a.css:2|unknown`,
		},
		"theme": {
			[]string{"/package.json", uses3, "/a.css", "\n.a { b: theme('none') }"},
			`/a.css:2|'none' does not exist in your theme config.`,
		},
		"theme 4": {
			[]string{"/a.css", uses + "\n@theme { .a { b: c } }"},
			"/a.css:2|`@theme` blocks must only contain custom properties or `@keyframes`.",
		},
		"version": {
			[]string{"/package.json", `{"dependencies":{"tailwindcss":"^2"}}`, "/a.css", uses},
			`/package.json|^3.4.0 or ^4.0.0`,
		},
		"sheet": {
			[]string{"/a.css", uses + "\n@import './b.css';"},
			`/a.css:2|/b.css does not exist`,
		},
		"module": {
			[]string{"/a.css", uses + "@plugin './b.js';"},
			`/a.css|/b.js does not exist`,
		},
		"package": {
			[]string{"/a.css", uses + "@plugin 'none';"},
			`/a.css|none" is not installed`,
		},
		"outside": {
			[]string{"/a.css", uses + "@import '../../a.css';"},
			`/a.css|is outside of the project`,
		},
		"outside 2": {
			[]string{"/a.css", uses + "@config '../../../../../../../../../../etc/passwd';"},
			`/a.css|is outside of the project`,
		},
		"URL": {
			[]string{"/a.css", uses + "@import 'p/p.css';"},
			`/a.css|outside of the project`,
		},
		"a package's import": {
			[]string{"/a.css", uses + "@import 'q/index.css';", "/b.css", "b {}"},
			`/a.css|refers to files outside of packages`,
		},
		"manifest": {
			[]string{"/a.css", uses + "@plugin './package.json';", "/package.json", "{}"},
			`/a.css|never bundled`,
		},
		"fs": {
			config("import fs from 'fs'\nexport default { content: [fs.x] }"),
			`/tailwind.config.ts:1|can use only path`,
		},
		"fs in a package": {
			config("\nexport default { plugins: [require('p')] }"),
			`|fs is a module of Node.js`,
		},
		"throw": {
			config("type A = 1\n\nfunction f() {\n  return null.x\n}\nexport default f()"),
			`/tailwind.config.ts:4|TypeError`,
		},
		"syntax": {
			config("\nexport default {"),
			`/tailwind.config.ts:2|`,
		},
		"a function": {
			config("export default { plugins: [\n() => { throw new Error('own') }] }"),
			`/tailwind.config.ts:2|own`,
		},
		"memory": {
			config("const all = []; for (;;) all.push(new Uint8Array(1 << 20))"),
			`/a.css:2|256 MiB`,
		},
		"nesting": {
			config("const f = () => f(); f()"),
			`/a.css:2|nested too deeply`,
		},
		"plugins": {
			config("export default { plugins: Array.from({ length: 1e9 }, () => () => {}) }"),
			`/a.css:2|`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project := files(c.project...)
			project["/index.html"] = []byte("<link rel=stylesheet href=a.css>")
			_, err := run(t, sources{Files: project, Packages: packages, Framework: "static"})
			got, ok := errors.AsType[*failure.Error](err)
			if !ok {
				t.Fatalf("got %v, want %s", err, c.want)
			}
			place, message, _ := strings.Cut(c.want, "|")
			if !strings.HasPrefix(fmt.Sprintf("%s:%d", got.Path, got.Line), place) || !strings.Contains(got.Message, message) ||
				strings.Contains(got.Message, " | ") || strings.HasPrefix(got.Message, "Error: ") {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// What a configuration does to the compiler changes no other build.
func TestTailwindLeavesNoTrace(t *testing.T) {
	t.Parallel()
	build := func(config string) string {
		out, err := run(t, sources{Framework: "static", Files: files("/index.html",
			"<link rel=stylesheet href=a.css><p class=flex>", "/package.json", uses3, "/a.css",
			"@tailwind utilities; .b { @apply p-2 }", "/tailwind.config.js", config)})
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
