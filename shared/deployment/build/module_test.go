package build

import (
	"strings"
	"testing"

	"devplatform/shared/deployment/failure"
)

func TestQueries(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"/a.svg?raw": "<svg", "/a.svg?url": `"/assets/a-HASH.svg"`, "/a.svg?inline": "data:image/svg+xml",
		"/a.svg?no-inline": `"/assets/a-HASH.svg"`, "/b.css?inline": "red", "/b.css?raw": "color: red",
		"/w.ts?worker": `new Worker("/assets/w-HASH.js"`, "/w.ts?worker&url": `"/assets/w-HASH.js"`,
		"/w.ts?sharedworker": `new SharedWorker("/assets/w-HASH.js"`, "/c.wasm?init": `WebAssembly.instantiateStreaming`,
		"/w.ts?worker&inline": "URL.createObjectURL(new Blob", "/w.ts?inline&sharedworker": `new SharedWorker("/assets/w-HASH.js"`,
		"/c.wasm?url": `"/assets/c-HASH.wasm"`, "/a.svg?react": `"stroke-width":"2"`, "p/d.txt?raw": "TEXT",
		"@/e.txt?raw": "ALIAS",
	} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			packages := fakeReact()
			packages["/node_modules/react/index.js"] = []byte("exports.createElement = exports.forwardRef = (x) => x")
			packages["/node_modules/p/d.txt"] = []byte("TEXT")
			got := hash.ReplaceAllString(bundleOf(t, files("/main.js", `import x from "`+spec+`"; console.log(x)`,
				"/a.svg", `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" class="c" stroke-width="2"><path d="M0 0"/></svg>`,
				"/b.css", "a { color: red }", "/w.ts", "postMessage(1 as number)", "/c.wasm", "\x00asm\x01\x00\x00\x00",
				"/src/e.txt", "ALIAS"),
				packages), "-HASH.")
			if !strings.Contains(got, want) {
				t.Errorf("no %s in %s", want, got)
			}
		})
	}
}

// Conventions of other build tools work.
func TestConventions(t *testing.T) {
	t.Parallel()
	const scripts = `{"dependencies":{"react-scripts":"5","react":"19"}}`
	for name, c := range map[string]struct {
		project, packages map[string][]byte
		want, not         string
	}{
		"global in CommonJS": {files("/main.js", `import "p"`), files("/node_modules/p/index.js",
			"module.exports = global.setTimeout"), "globalThis.setTimeout", "global.set"},
		"global as a variable": {files("/main.js", `import "p"`), files("/node_modules/p/index.js",
			"export default function (global) { console.log(global.x) }; console.log(1)"), "", "globalThis.x"},
		"import map of an installed package": {files("/main.js", `import "p"`, "/index.html",
			`<script type=importmap>{"imports":{"q":"/q.js"}}</script><script type=module src=main.js></script>`), files(
			"/node_modules/p/index.js", `console.log(require("q"))`, "/node_modules/q/index.js", `module.exports = "installed"`),
			"installed", "Dynamic require"},
		"import map": {files("/main.js", `import "p"`, "/index.html",
			`<script type=importmap>{"imports":{"q":"/q.js"}}</script><script type=module src=main.js></script>`), files(
			"/node_modules/p/index.js", `console.log(require("q"))`), `from"q"`, "Dynamic require"},
		"exported without extension": {files("/main.js",
			`import "@s/p/lib/a"; import W from "@s/p/lib/w?worker"; new W()`), files("/node_modules/@s/p/package.json",
			`{"exports":{"./*":"./*"}}`, "/node_modules/@s/p/lib/a.js", `console.log("A")`,
			"/node_modules/@s/p/lib/w.js", `console.log("W")`), `"A"`, ""},
		"byte order marks": {files("/main.js", "\ufeffimport d from './d.json'; console.log(d.a)", "/d.json", "\ufeff"+`{"a":"BOM"}`,
			"/package.json", "\ufeff{}", "/tsconfig.json", "\ufeff{}", "/.env", "\ufeffVITE_A=1"), nil, "BOM", ""},
		"variables of Create React App": {files("/main.js",
			"console.log(process.env.REACT_APP_A, import.meta.env.REACT_APP_A)",
			"/.env", "REACT_APP_A=Corner", "/package.json", scripts), nil, `"Corner","Corner"`, ""},
		"component of Create React App": {files("/main.js",
			`import url, { ReactComponent as A } from "./a.svg"; console.log(url, A)`,
			"/a.svg", `<svg width="1">IMAGE</svg>`, "/package.json", scripts), files("/node_modules/react/index.js",
			"exports.createElement = exports.forwardRef = (x) => x"), "IMAGE", ""},
		"package that replaces another": {files("/main.js", `import "p"`), files("/node_modules/p/package.json",
			`{"browser":{"q":false,"./a.js":false}}`, "/node_modules/p/index.js", `console.log(require("q"), require("./a"))`,
			"/node_modules/p/a.js", "console.log('A')", "/node_modules/q/index.js", "console.log('Q')"), "console.log", "'Q'"},
		"nested package.json": {files("/main.js", `import "p/sub"`), files("/node_modules/p/package.json", `{}`,
			"/node_modules/p/sub/package.json", `{"main":"../lib/sub.js"}`, "/node_modules/p/lib/sub.js", "console.log('SUB')"),
			"SUB", ""},
		"package without a file for browsers": {files("/main.js", `import "p"`), files("/node_modules/p/index.js",
			`console.log(require("fs").readFileSync)`), "readFileSync", ""},
		"decorators": {files("/main.js", `import "./a.ts"`, "/a.ts", "class A { @d x = 1 }\nfunction d() {}",
			"/tsconfig.json", `{"compilerOptions":{"experimentalDecorators":true,"useDefineForClassFields":false}}`), nil, "this.x=1", "@d"},
		"jsxImportSource": {files("/main.js", `console.log(<p/>)`, "/tsconfig.json",
			`{"compilerOptions":{"jsx":"react-jsx","jsxImportSource":"p"}}`), files("/node_modules/p/jsx-runtime.js",
			`export const jsx = () => "OWN"`), "OWN", ""},
		"empty tsconfig.json": {files("/main.js", `console.log("A")`, "/tsconfig.json", " \n"), nil, "A", ""},
		"tsconfig.json with code": {files("/main.js", `console.log("A")`, "/tsconfig.json",
			`{"compilerOptions":{"jsxFactory":f,"jsxImportSource":()=>1}}`), nil, "A", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := bundleOf(t, c.project, c.packages)
			if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("bundle %q, want %q, not %q", got, c.want, c.not)
			}
		})
	}
}

// A page works, or the log or the error says why it does not.
func TestPagesThatWouldThrow(t *testing.T) {
	t.Parallel()
	react := fakeReact()
	react["/node_modules/buffer/index.js"] = []byte("exports.Buffer = 'BUFFER'")
	const app = `{"dependencies":{"react":"19"}}`
	for name, c := range map[string]struct {
		project, packages map[string][]byte
		want              string // a part of the bundles
		warning           string // the beginning of the only warning
	}{
		"process": {files("/main.js", `import "p"; console.log(process.version)`), files("/node_modules/p/index.js",
			"process.nextTick(() => 1)"), "queueMicrotask", ""},
		"import of process": {
			files("/main.js", `import { env } from "process"; import p from "node:process"; f(p, env)`), nil,
			"queueMicrotask", "",
		},
		"no process":        {files("/main.js", "console.log(process.env.A)"), nil, "console.log(", ""},
		"React":             {files("/main.js", "console.log(React.useState)", "/package.json", app), react, "useState", ""},
		"no React":          {files("/main.js", "console.log(1)", "/package.json", app), react, "console.log(1);\n", ""},
		"Buffer":            {files("/main.js", "console.log(Buffer.from(''))"), react, "BUFFER", ""},
		"folder of a file":  {files("/main.js", "console.log(__dirname, __filename)"), nil, `console.log("/","/index.js")`, ""},
		"Buffer is missing": {files("/main.js", "\n x(Buffer.from(''))"), nil, "", "/main.js:2:4: The script uses Buffer,"},
		"Buffer is checked": {files("/main.js", "if (typeof Buffer !== 'undefined') Buffer.from('')"), nil, "", ""},
		"Buffer in a package": {files("/main.js", `import "p"`), files("/node_modules/p/index.js", "Buffer.alloc(1)"), "",
			`The package "p" uses Buffer`},
		"variable": {files("/main.js", "f(import.meta.env.VITE_A, import.meta.env.VITE_B)", "/.env", "VITE_A=1"), nil, "",
			"/main.js:1:38: The variable VITE_B has no value."},
		"computed import":  {files("/main.js", "import(a)"), nil, "", `/main.js:1:1: This "import" expression will not be`},
		"computed require": {files("/main.js", "\nrequire(a)"), nil, "", "/main.js:2:1: This call to"},
		"computed require in a package": {files("/main.js", `import "p"`), files("/node_modules/p/index.js", "require(a)"),
			"", ""},
		"script without a type": {files("/index.html", "<script src=main.js></script>", "/main.js", "import './a.js'",
			"/a.js", "console.log('A')"), nil, "'A'", ""},
		"inline script without a type": {files("/index.html", "<script>import './a.js'</script>", "/a.js",
			"console.log('A')"), nil, "'A'", ""},
		"hot module replacement": {files("/main.js", "f(import.meta.hot.accept('./a', g)); if (import.meta.hot) gone()"), nil,
			`f(Boolean("./a",g));`, ""},
		"package in a public script": {files("/index.html", "<script type=module src=/a.js></script>", "/public/a.js",
			"import 'https://x.example/a.js';\nimport A from 'p'"), nil, "", `/public/a.js: The script imports "p",`},
		"mapped package in a public script": {files("/index.html", `<script type=importmap>{"imports":{"p/":"/x/"}}</script>`+
			"<script type=module src=/a.js></script>", "/public/a.js", "import A from 'p/b'"), nil, "", ""},
		"missing script": {files("/index.html", "<p>\n<script src=gone.js></script>"), nil, "",
			"/index.html:2: The file /gone.js does not exist."},
		"missing style": {files("/index.html", "<link rel=stylesheet href=gone.css>"), nil, "",
			"/index.html:1: The file /gone.css does not exist."},
		"directive of Vue in JSX": {files("/package.json", `{"dependencies":{"vue":"3"}}`,
			"/main.js", "import './a.tsx'", "/a.tsx", "f(<i a='v-model'/>,\n <input type='a' v-model={b} />)"),
			files("/node_modules/vue/jsx-runtime.js",
				"export const jsx = (n) => 'of Vue'"), "of Vue", "/a.tsx:2:18: v-model has no effect in JSX"},
		"module of Node.js in a package": {files("/main.js", `import "p"`), files("/node_modules/p/index.js",
			`require("fs")`), "", `The package "p" imports "fs", a module of Node.js that browsers do not have.`},
		"missing element": {files("/main.js", "createRoot(document.getElementById('app')).render(1)"), nil, "",
			`/main.js: The script renders into the element with the id "app", which the page /index.html does not have`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := run(t, withPage(c.project, c.packages))
			var code strings.Builder
			for _, f := range out.Files {
				if f.Hashed {
					code.Write(f.Data)
				}
			}
			text := strings.ReplaceAll(code.String(), `"A"`, "'A'")
			if err != nil || !strings.Contains(text, c.want) || len(out.Warnings) > 1 ||
				!strings.HasPrefix(strings.Join(out.Warnings, ""), c.warning) || c.warning == "" && len(out.Warnings) > 0 {
				t.Errorf("got %v, warnings %q, bundles %s", err, out.Warnings, text)
			}
			if name == "no React" && text != c.want {
				t.Errorf("got %q", text)
			}
		})
	}
	out := mustRun(t, sources{Files: files("/src/main.js", `createRoot(document.getElementById("app")).render(1)`)})
	if !strings.Contains(out["/index.html"], `<div id="app">`) {
		t.Errorf("got the page %s", out["/index.html"])
	}
	for file, want := range map[string]failure.Error{
		"./Button": {Code: failure.BuildFailed, Message: "The name of the file is /button.js"},
		"./Lib/a":  {Code: failure.BuildFailed, Message: "The name of the file is /lib/a.js"},
		"./a.yaml": {Code: failure.FrameworkUnsupported, Message: "needs a tool for YAML"},
		"./a.wasm": {Code: failure.FrameworkUnsupported, Message: "WebAssembly with ?init"},
		"./a.mdx":  {Code: failure.FrameworkUnsupported, Message: "MDX"},

		"./a.wasm?init":        {Code: failure.BuildFailed, Message: "not a WebAssembly module"},
		"virtual:pwa-register": {Code: failure.BuildFailed, Message: "comes from a plugin of a build tool"},
	} {
		want.Path, want.Line, want.Column = "/main.js", 1, 8
		all := files("/main.js", `import "`+file+`"`, "/button.js", "", "/lib/a.js", "", "/a.yaml", "", "/a.wasm", "text",
			"/a.mdx", "")
		wantFailure(t, withPage(all, nil), want)
	}
}

func TestConstantsInPages(t *testing.T) {
	t.Parallel()
	out := mustRun(t, sources{
		Files: files("/index.html", `<title>%VITE_TITLE%</title><a href="%BASE_URL%x.svg" id=%MODE%>%PUBLIC_URL%/a %REACT_APP_A% `+
			`%VITE_NONE% 100%</a>`, "/.env", "VITE_TITLE=Shop\nREACT_APP_A=a"),
		Variables: map[string]string{"VITE_TITLE": "Own $HOME"},
	})
	const want = `<title>Own $HOME</title><a href="/x.svg" id=production>/a a %VITE_NONE% 100%</a>`
	got, err := run(t, sources{Files: files("/index.html", "\n%VITE_NONE%")})
	const warning = "/index.html:2: The variable VITE_NONE has no value."
	if err != nil || len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0], warning) {
		t.Errorf("got %v, %q, want %s", err, got.Warnings, warning)
	}
	if out["/index.html"] != want {
		t.Errorf("got %s, want %s", out["/index.html"], want)
	}
	p := &project{} // finding the line of each of many constants would take too long
	p.replaceConstants("/index.html", []byte(strings.Repeat("%VITE_NONE%", 2*maxWarnings)))
	if n := len(p.warnings); n != maxWarnings {
		t.Errorf("got %d warnings, want %d", n, maxWarnings)
	}
}

func TestStylesInPages(t *testing.T) {
	t.Parallel()
	out := mustRun(t, sources{Files: files("/index.html", `<style>a{b:url( 'src/a.png' )} c{d:url(/src/b.png)}</style>`+
		`<p style="b:url(&quot;src/c.png&quot;)">`, "/src/a.png", "", "/src/b.png", "", "/src/c.png", "", "/src/d.png", "",
		"/package.json", appManifest)})
	wantPaths(t, out, "/index.html", "/src/a.png", "/src/b.png", "/src/c.png")
}

func TestWebFonts(t *testing.T) {
	t.Parallel()
	out := mustRun(t, withPage(files("/main.js", `import "./a.css"; import "./b.css"`, "/a.css", "a{color:red}",
		"/b.css", `@import url("https://fonts.example/css2?family=Inter"); b{color:blue}`), nil))
	for name, css := range out {
		if strings.HasPrefix(name, "/assets/") && strings.HasSuffix(name, ".css") &&
			!strings.HasPrefix(css, `@import"https://fonts.example/css2?family=Inter";`) {
			t.Errorf("the import is not at the beginning of %s", css)
		}
	}
}
