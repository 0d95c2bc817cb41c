package build

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"devplatform/shared/deployment/failure"
)

// appFiles are files that the tests of this file import.
func appFiles(main string) map[string][]byte {
	return files("/main.js", main, "/package.json", appManifest,
		"/src/a.svg", "<svg id='A'/>", "/src/img/b.png", "B", "/src/img/.c.png", "C", "/src/img/d.js", "",
		"/src/img/e.key", "E",
		"/src/pages/one.js", `export default "ONE"; export const title = "first"`, "/src/pages/two.ts",
		`export default "TWO" as string; export const title = "second"`, "/src/pages/deep/three.js",
		`export default "THREE"`, "/src/pages/note.md", "NOTE")
}

func TestMeta(t *testing.T) {
	t.Parallel()
	for code, c := range map[string]struct{ want, not string }{
		// URLs of assets.
		`new URL("./src/a.svg", import.meta.url)`:               {`"/assets/a-HASH.svg"`, ""},
		`new URL('src/a.svg#x', import . meta . url)`:           {`+"#x",import.meta.url)`, "src/a.svg"},
		"new URL(\n`./src/a.svg?v=1`\n, import.meta.url)":       {`+"?v=1",import.meta.url)`, "src/a.svg"},
		`new URL("./src/img/d.js", import.meta.url)`:            {`"/assets/d-HASH.js"`, ""},
		`new URL("./gone.svg", import.meta.url)`:                {`"./gone.svg"`, "/assets"},
		`new URL("/src/a.svg", import.meta.url)`:                {`"/src/a.svg"`, "/assets"},
		`new URL("https://x.example/", import.meta.url)`:        {`"https://x.example/"`, ""},
		`"new URL('./src/a.svg', import.meta.url)"`:             {`'./src/a.svg'`, "/assets"},
		"1 // new URL('./src/a.svg', import.meta.url)\n":        {"", "svg"},
		"(x => new URL(`./src/img/${x}.png`, import.meta.url))": {`"./src/img/b.png":`, "c-HASH"},
		"(x => new URL(`./src/img/${x}`, import.meta.url))":     {`"/assets/b-HASH.png"`, "e-HASH.key"},
		"import.meta.url": {"import.meta.url", ""},
		// Globs.
		`import.meta.glob("./src/pages/*.js")`: {`"./src/pages/one.js":()=>import("/assets/one-HASH.js")`, "three"},
		`import.meta.glob('/src/pages/**/*.{js,ts}', { import: "title" })`: {
			`"/src/pages/two.ts":()=>import("/assets/two-HASH.js").then(`, ".md"},
		"import.meta.glob(['./src/pages/*', '!**/*.md', `!./src/pages/two.*`], /* c */ { eager: true, import: 'default', },)": {
			`"./src/pages/one.js":`, "two"},
		`import.meta.glob("@/pages/*.js", { "eager": true })`:                {`"/src/pages/one.js"`, ""},
		`import.meta.glob("./src/pages/*.md", {query: "?raw", eager: true})`: {`"NOTE"`, ""},
		`import.meta.glob("./src/*.svg", {as: 'url', eager: true})`:          {`"/assets/a-HASH.svg"`, ""},
		`import.meta.glob("./*.js")`:                                         {"Object.assign({})", ""},
		`import.meta.glob("./src/{pages,{img,x}}/[m-p]*.{c,j}?", {})`:        {`"./src/pages/one.js"`, "deep"},
		`import.meta.glob("./src/*.none")`:                                   {"Object.assign({})", ""},
		`"import.meta.glob('./src/*')"`:                                      {`import.meta.glob('./src/*')`, ""},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			got := hash.ReplaceAllString(bundleOf(t, appFiles("console.log("+code+")"), nil), "-HASH.")
			if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("bundle %q, want %q, not %q", got, c.want, c.not)
			}
		})
	}
}

// An empty pattern can match an alias of tsconfig.json.
func TestEmptyGlob(t *testing.T) {
	t.Parallel()
	project := appFiles(`console.log(import.meta.glob(["", "./src/a.*"], {query: "?url"}))`)
	project["/tsconfig.json"] = []byte(`{"compilerOptions":{"paths":{"*":["./src/*"]}}}`)
	if got := bundleOf(t, project, nil); !strings.Contains(got, `"./src/a.svg"`) {
		t.Errorf("bundle %q, want the file of the other pattern", got)
	}
}

func TestMetaErrors(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"import.meta.glob(x)":                             "not supported",
		"import.meta.glob('./*', {base: './'})":           "not supported",
		"import.meta.glob('./*', {query: '?react'})":      "not supported",
		"import.meta.glob('./*', {import: '1;alert(1)'})": "not supported",
		"import.meta.globEager('./*.js')":                 "not supported",
		"import.meta.glob('../*')":                        "pattern",
		"import.meta.glob('./{a')":                        "pattern",
		"import.meta.glob('./a}')":                        "pattern",
		"import.meta.glob('pages/*')":                     "pattern",
	} {
		wantFailure(t, withPage(appFiles("\n  "+code), nil),
			failure.Error{Code: failure.BuildFailed, Message: want, Path: "/main.js", Line: 2, Column: 3})
	}
	wantFailure(t, withPage(appFiles("\nnew URL('./src/pages/two.ts', import.meta.url)"), nil),
		failure.Error{Code: failure.BuildFailed, Message: "TypeScript", Path: "/main.js", Line: 2, Column: 9})
	// The lines after an expression keep their numbers.
	wantFailure(t, withPage(appFiles("import.meta.glob(\n'./src/*.svg',\n{eager: true})\nimport './gone.js'"), nil),
		failure.Error{Code: failure.BuildFailed, Message: "/gone.js", Path: "/main.js", Line: 4, Column: 8})
	in := withPage(appFiles("import.meta.glob('./*.less', { eager: true })"), nil)
	in.Files["/a.less"] = nil
	wantFailure(t, in, failure.Error{Code: failure.FrameworkUnsupported, Message: "Less", Path: "/main.js", Line: 1,
		Column: 35})
}

// TestAddedImportInPage checks that an error about a file of a glob has the line of the expression in the page.
func TestAddedImportInPage(t *testing.T) {
	t.Parallel()
	in := files("/a.less", "", "/index.html",
		"<p>\n<script type=module>\nimport.meta.glob('./*.less', { eager: true })</script>")
	_, err := run(t, sources{Files: in})
	if f, ok := errors.AsType[*failure.Error](err); !ok || f.Path != "/index.html" || f.Line != 3 {
		t.Errorf("got %+v", err)
	}
}

// TestMetaOffsets reads code with other line ends, and expressions with type arguments.
func TestMetaOffsets(t *testing.T) {
	t.Parallel()
	got := bundleOf(t, appFiles("\u2028'é';\r\ntry {\rconsole.log(new URL('./src/a.svg', import.meta.url)) } catch {}"), nil)
	if !strings.Contains(got, "/assets/a-") {
		t.Error(got)
	}
	in := withPage(files("/main.ts", `const all = import.meta.glob<{ default: () => string }>("./src/*.ts", { eager: true }) as object
		const other = import.meta.glob<() => string>(["./src/*.ts"]); console.log(all, other)`,
		"/src/a.ts", `export default () => "found"`,
		"/index.html", `<script type="module" src="/main.ts"></script>`), nil)
	var text strings.Builder
	for _, data := range mustRun(t, in) {
		text.WriteString(data)
	}
	if strings.Count(text.String(), `"./src/a.ts":`) != 2 {
		t.Error(text.String())
	}
}

func TestMetaWarnings(t *testing.T) {
	t.Parallel()
	out, err := run(t, withPage(appFiles("\nnew URL('./gone.svg', import.meta.url)"), nil))
	const want = `/main.js:2:9: The file "./gone.svg" does not exist, so the URL stays as it is.`
	if err != nil || !slices.Contains(out.Warnings, want) {
		t.Errorf("got %v, %q", err, out.Warnings)
	}
}

func TestWorkers(t *testing.T) {
	t.Parallel()
	in := withPage(appFiles(`new Worker(new URL("./src/w.ts", import.meta.url), { type: "module" })
		new SharedWorker(new URL("src/w.ts", import.meta.url))`), nil)
	in.Files["/src/w.ts"] = []byte(`import { n } from "./lib"; import icon from "./a.svg";
		postMessage([n as string, icon, new URL("./a.svg", import.meta.url)])`)
	in.Files["/src/lib.ts"] = []byte(`export const n: string = "in the worker"`)
	out := mustRun(t, in)
	wantPaths(t, out, "/assets/a-HASH.svg", "/assets/main-HASH.js", "/assets/w-HASH.js", "/index.html")
	for name, text := range out {
		if strings.HasPrefix(name, "/assets/w-") && (!strings.Contains(text, "in the worker") ||
			!strings.Contains(text, "self.location.href") || strings.Contains(text, "import")) {
			t.Errorf("worker: %s", text)
		}
		if strings.HasPrefix(name, "/assets/main-") && !strings.Contains(hash.ReplaceAllString(text, "-HASH."), `"/assets/w-HASH.js"`) {
			t.Errorf("main: %s", text)
		}
	}
	in.Files["/src/w.ts"] = []byte("\nimport './gone'")
	wantFailure(t, in, failure.Error{Code: failure.BuildFailed, Message: "/src/gone", Path: "/src/w.ts", Line: 2,
		Column: 8})
	in.Files["/src/w.ts"] = []byte("new Worker(new URL('./w.ts', import.meta.url))")
	wantFailure(t, in, failure.Error{Code: failure.BuildFailed, Message: "The worker /src/w.ts starts itself",
		Path: "/src/w.ts", Line: 1, Column: 28})
}

// A worker can start another worker. The script of an inline worker is in the bundle, and not in a file.
func TestWorkersInWorkers(t *testing.T) {
	t.Parallel()
	in := withPage(files("/main.js", `import Outer from "./outer.js?worker&inline"; new Outer()`, "/outer.js",
		`import Inner from "./inner.js?worker"; import a from "./a.png"; new Inner(); console.log("outer", a, import.meta.url)`,
		"/a.png", "",
		"/inner.js", `console.log("inner")`, "/package.json", appManifest), nil)
	out := mustRun(t, in)
	wantPaths(t, out, "/a.png", "/assets/a-HASH.png", "/assets/inner-HASH.js", "/assets/main-HASH.js", "/index.html")
	for name, text := range out {
		inner := strings.HasPrefix(name, "/assets/inner-")
		outer := strings.HasPrefix(name, "/assets/main-")
		text = hash.ReplaceAllString(text, "-HASH.")
		if inner && !strings.Contains(text, "inner") || outer && (!strings.Contains(text, "self.location.origin") ||
			!strings.Contains(text, `new Worker(new URL("/assets/inner-HASH.js",self.location.origin)`) ||
			strings.Count(text, `self.location.origin).href`) != 2) { // of the inner worker and of the image
			t.Errorf("%s: %s", name, text)
		}
	}
	in.Files["/inner.js"] = []byte("\nimport './outer.js?worker'")
	wantFailure(t, in, failure.Error{Code: failure.BuildFailed, Message: "The worker /outer.js starts itself",
		Path: "/inner.js", Line: 2, Column: 8})
}

func TestFilesOfPackages(t *testing.T) {
	t.Parallel()
	project := files("/main.js", `import "p"; console.log(new URL("p/a.wasm", import.meta.url))`)
	got := hash.ReplaceAllString(bundleOf(t, project, files(
		"/node_modules/p/index.js", `console.log(new URL("./b.wasm", import.meta.url))`, "/node_modules/p/a.wasm", "",
		"/node_modules/p/b.wasm", "")), "-HASH.")
	if !strings.Contains(got, `"/assets/a-HASH.wasm"`) || !strings.Contains(got, `"/assets/b-HASH.wasm"`) {
		t.Error(got)
	}
}

// An import with a computed path loads the files that it can mean, in the project and in packages.
func TestComputedPaths(t *testing.T) {
	t.Parallel()
	got := bundleOf(t, files("/src/main.js", "import 'p'; console.log((n) => import(`./pages/${n}.js`))",
		"/src/pages/a.js", `console.log("page a")`, "/src/pages/b.txt", "", "/main.js", `import "./src/main.js"`), files(
		"/node_modules/p/index.js", `module.exports = (n) => require("./locale/" + n)`,
		"/node_modules/p/locale/x.js", `console.log("locale x")`))
	for _, want := range []string{`"./pages/a.js":()=>import("/assets/a-`, "page a", `"./locale/x.js"`, "locale x"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	got = bundleOf(t, files("/main.js", "import(`@/pages/${n}.jsx`); import(`/lib/${n}.js`)", "/src/pages/a.jsx",
		`console.log("page a")`, "/lib/b.js", `console.log("lib b")`), nil)
	if !strings.Contains(got, "page a") || !strings.Contains(got, "lib b") {
		t.Error(got)
	}
	got = bundleOf(t, files("/main.js", "import(`./${n}`)", "/a.js", `console.log("A")`, "/a.key", "SECRET",
		"/package.json", "{}"), nil)
	if !strings.Contains(got, `"A"`) || strings.Contains(got, "SECRET") {
		t.Error(got)
	}
	wantFailure(t, withPage(files("/main.js", "import './a/B.js'; import(`./a/${n}.js`)", "/a/b.js", ""), nil),
		failure.Error{Code: failure.BuildFailed, Message: "The name of the file is /a/b.js", Path: "/main.js",
			Line: 1, Column: 8})
	wantFailure(t, withPage(files("/main.js", "import 'p'; import(`./${n}.js`)"), files("/node_modules/p/index.js", "")),
		failure.Error{Code: failure.BuildFailed, Message: "all files in /node_modules", Path: "/main.js"})
	wantFailure(t, withPage(files("/main.js", "import(`./${n}\\udc00.js`)"), nil),
		failure.Error{Code: failure.BuildFailed, Message: "a character that is not valid", Path: "/main.js"})
}
