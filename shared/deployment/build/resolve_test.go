package build

import (
	"maps"
	"strings"
	"testing"

	"devplatform/shared/deployment/failure"
)

// bundleOf builds a page with the script /main.js and returns the text of all bundled scripts.
func bundleOf(t *testing.T, project, packages map[string][]byte) string {
	t.Helper()
	out := mustRun(t, withPage(project, packages))
	var all strings.Builder
	for name, data := range out {
		if strings.HasPrefix(name, "/assets/") && strings.HasSuffix(name, ".js") {
			all.WriteString(data)
		}
	}
	return all.String()
}

// withPage returns a project whose page loads /main.js.
func withPage(project, packages map[string][]byte) sources {
	all := files("/index.html", `<script type="module" src="/main.js"></script>`)
	maps.Copy(all, project)
	return sources{Files: all, Packages: packages}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		project, packages map[string][]byte
		want              string // text in the bundle
		not               string // text that is not in the bundle
	}{
		"extensions": {files("/main.js", `import "./a"; import "./b"; import "./c"; import "./d"`, "/a.tsx",
			`console.log("A" as string)`,
			"/b.ts", "", "/c/index.jsx", "", "/d.json", "{}"), nil, `"A"`, ""},
		"js means ts": {files("/main.js", `import "./a.js"`, "/a.ts", `console.log("A" as string)`), nil, `"A"`, ""},
		"exports with conditions": {files("/main.js", `import "p/x"`), files(
			"/node_modules/p/package.json",
			`{"exports":{"./x":{"node":"./node.js","require":"./r.js","import":{"browser":"./b.js"},"default":"./d.js"}}}`,
			"/node_modules/p/b.js", `console.log("browser")`, "/node_modules/p/node.js", "", "/node_modules/p/d.js", ""),
			"browser", ""},
		"exports by require": {files("/main.js", `console.log(require("p"))`), files(
			"/node_modules/p/package.json", `{"exports":{"import":"./i.js","require":"./r.js"}}`,
			"/node_modules/p/r.js", `module.exports = "required"`, "/node_modules/p/i.js", ""), "required", ""},
		"exports with patterns": {files("/main.js", `import "p/a/b"; import "p/a/x/c"`), files(
			"/node_modules/p/package.json", `{"exports":{"./a/*":"./lib/*.js","./a/x/*":["./y/*.mjs"],"./a/no/*":null}}`,
			"/node_modules/p/lib/b.js", `console.log("one")`, "/node_modules/p/y/c.mjs", `console.log("two")`), "two", ""},
		"imports": {files("/main.js", `import "p"`), files(
			"/node_modules/p/package.json", `{"main":"m","imports":{"#in/*":"./in/*.js","#dep":"q"}}`,
			"/node_modules/p/m.js", `import "#in/a"; import "#dep"`, "/node_modules/p/in/a.js", `console.log("inner")`,
			"/node_modules/q/package.json", `{}`, "/node_modules/q/index.js", `console.log("q")`), "inner", ""},
		"browser string": {files("/main.js", `import "p"`), files("/node_modules/p/package.json",
			`{"main":"m.js","module":"e.js","browser":"b.js"}`, "/node_modules/p/b.js", `console.log("browser")`,
			"/node_modules/p/m.js", "", "/node_modules/p/e.js", ""), "browser", ""},
		"browser map": {files("/main.js", `import "p"`), files("/node_modules/p/package.json",
			`{"main":"./m.js","browser":{"./m.js":"./b.js","./server.js":false,"fs":false,"net":"./net.js","./gone.js":"./net.js"}}`,
			"/node_modules/p/m.js", `console.log("node")`, "/node_modules/p/server.js", `console.log("server")`,
			"/node_modules/p/b.js", `import "./server.js"; import fs from "fs"; import "net"; import "./gone.js"; console.log(fs, "browser")`,
			"/node_modules/p/net.js", `console.log("net")`), `"browser"`, `"server"`},
		"module": {files("/main.js", `import "p"`), files("/node_modules/p/package.json", `{"main":"m.js","module":"e.js"}`,
			"/node_modules/p/e.js", `console.log("module")`, "/node_modules/p/m.js", `console.log("main")`), "module", "main"},
		"scoped, index": {files("/main.js", `import "@s/p/lib"`), files("/node_modules/@s/p/package.json", `{}`,
			"/node_modules/@s/p/lib/index.js", `console.log("scoped")`), "scoped", ""},
		"nested before outer": {files("/main.js", `import "a"`), files("/node_modules/a/index.js", `import "b"`,
			"/node_modules/a/node_modules/b/index.js", `console.log("nested")`, "/node_modules/b/index.js",
			`console.log("outer")`),
			"nested", "outer"},
		"self reference": {files("/main.js", `import "p"`), files("/node_modules/p/package.json",
			`{"name":"p","exports":{".":"./i.js","./x":"./x.js"}}`, "/node_modules/p/i.js", `import "p/x"`,
			"/node_modules/p/x.js", `console.log("self")`), "self", ""},
		"side effects": {files("/main.js", `import { a } from "p"; console.log(a)`), files("/node_modules/p/package.json",
			`{"main":"i.js","sideEffects":["./kept/**/*.js","poly.js"]}`, "/node_modules/p/i.js",
			`import "./kept/x/a.js"; import "./lib/poly.js"; import "./dropped.js"; export const a = "used"`,
			"/node_modules/p/kept/x/a.js", `console.log("kept")`, "/node_modules/p/lib/poly.js", `console.log("poly")`,
			"/node_modules/p/dropped.js", `console.log("dropped")`), "kept", "dropped"},
		"paths": {files("/main.js", `import "~/a"; import "@/b"; import "lib/c"`, "/src/a.ts", `console.log("A")`,
			"/src/b.ts", "",
			"/src/lib/c.ts", "", "/tsconfig.json", "{ // comment\n\"extends\":\"./base\",}",
			"/base.json", `{"compilerOptions":{"baseUrl":"./src","paths":{"~/*":["./nowhere/*","./*"]}}}`), nil, `"A"`, ""},
		"@ of Vite": {files("/main.js", `import "@/b"`, "/src/b.ts", `console.log("B")`), nil, `"B"`, ""},
		"json": {files("/main.js", `import d from "./d.json"; console.log(d.a)`, "/d.json", `{"a":"value"}`), nil,
			"value", ""},
		"raw": {files("/main.js", `import d from "./d.svg?raw"; console.log(d)`, "/d.svg", `<svg id="raw">`), nil,
			"raw", "/assets/"},
		"url": {files("/main.js", `import d from "./d.js?url"; console.log(d)`, "/d.js", ``), nil, "/assets/d-", ""},
		"public": {files("/main.js", `import d from "/d.svg"; console.log(d)`, "/public/d.svg", ``), nil, `"/d.svg"`,
			"/assets"},
		"CSS module": {files("/main.js", `import s from "./a.module.css"; console.log("<" + s.red)`, "/a.module.css",
			`.red{color:red}`), nil, `{red:"`, "color"},
		"environment": {files("/main.js",
			`console.log(import.meta.env.MODE, import.meta.env.SECRET, process.env.NODE_ENV === "production",
			import.meta.env.PROD && "prod")`), nil, `"production",`, "process"},
		"URL of /public": {files("/main.js", `console.log(process.env.PUBLIC_URL + "/a")`), nil, `console.log("/a");`, ""},
		"URL":            {files("/main.js", `import "https://esm.example/a.js"`), nil, "https://esm.example/a.js", ""},
		"optional": {files("/main.js", `try { require("absent") } catch { console.log("handled") }`), nil,
			"handled", ""},
		"caught": {files("/main.js", `import("absent").catch(() => console.log("handled"))`), nil, "handled", ""},
		"import map": {files("/main.js", `import "three/addons/a.js"`, "/index.html",
			`<script type="importmap">{"imports":{"three/addons/":"/x/"}}</script><script type="module" src="/main.js"></script>`), nil, "three/addons/a.js", ""},
		"JSX in .js": {files("/main.js", `console.log(<p>text</p>)`), fakeReact(), "text", ""},
		"node in package": {files("/main.js", `import "p"`), files("/node_modules/p/index.js",
			`import fs from "node:fs"; import { join } from "node:path"; console.log(fs, join("works"))`,
			"/node_modules/path/index.js", `exports.join = (x) => x`), "works", ""},
		"jsxFactory": {files("/main.js", `import { h } from "./h.js"; console.log(<p>text</p>)`, "/h.js",
			`export const h = (x) => "own" + x`,
			"/tsconfig.json", `{"compilerOptions":{"jsxFactory":"h"}}`), nil, "own", ""},
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

func TestResolveErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		project, packages map[string][]byte
		want              failure.Error
	}{
		"syntax": {files("/main.js", "\n  let ü = 1; const x = ;"), nil,
			failure.Error{Code: failure.BuildFailed, Message: `Unexpected ";"`, Path: "/main.js", Line: 2, Column: 24}},
		"missing file": {files("/main.js", `import "./src/a"`), nil,
			failure.Error{Code: failure.BuildFailed, Message: "The file /src/a does not exist", Path: "/main.js", Line: 1,
				Column: 8}},
		"missing package": {files("/main.js", `import "@s/p/x"`), nil,
			failure.Error{Code: failure.DependencyNotFound,
				Message: `"@s/p" is not installed. It is imported by /main.js. Add it to dependencies in /package.json. ` +
					`If it is an alias, define it in compilerOptions.paths of tsconfig.json.`,
				Path: "/main.js", Line: 1, Column: 8}},
		"no name": {files("/main.js", `import "?a"`), nil,
			failure.Error{Code: failure.DependencyNotFound, Message: `"" is not installed`, Path: "/main.js", Line: 1,
				Column: 8}},
		"missing in package": {files("/main.js", `import "p"`), files("/node_modules/p/index.js", `import "q"`),
			failure.Error{Code: failure.DependencyNotFound,
				Message: `"q" is not installed. It is imported by /node_modules/p/index.js`,
				Path:    "/node_modules/p/index.js", Line: 1, Column: 8}},
		"dev dependency": {files("/main.js", `import "p"`, "/package.json", `{"devDependencies":{"p":"1"}}`), nil,
			failure.Error{Code: failure.DependencyNotFound, Message: `is not installed although`, Path: "/main.js", Line: 1,
				Column: 8}},
		"not exported": {files("/main.js", `import "p/y"`), files("/node_modules/p/package.json",
			`{"name":"p","exports":"./x.js"}`),
			failure.Error{Code: failure.BuildFailed, Message: `The package "p" does not export "p/y"`, Path: "/main.js",
				Line: 1, Column: 8}},
		"export outside of the package": {files("/main.js", `import "p"`, "/secret.js", ""),
			files("/node_modules/p/package.json", `{"name":"p","exports":"./../../secret.js"}`),
			failure.Error{Code: failure.BuildFailed, Message: `does not export`, Path: "/main.js", Line: 1, Column: 8}},
		"main outside of the package": {files("/main.js", `import "p"`, "/secret.js", ""),
			files("/node_modules/p/package.json", `{"name":"p","main":"../../secret.js"}`),
			failure.Error{Code: failure.BuildFailed, Message: `does not export`, Path: "/main.js", Line: 1, Column: 8}},
		"path outside of the package": {files("/main.js", `import "p"`, "/secret.js", ""),
			files("/node_modules/p/index.js", `import "../../secret.js"`),
			failure.Error{Code: failure.BuildFailed, Message: `"p" refers to files outside of packages`,
				Path: "/node_modules/p/index.js", Line: 1, Column: 8}},
		"browser map outside of the package": {files("/main.js", `import "p"`, "/secret.js", ""),
			files("/node_modules/p/package.json", `{"name":"p","browser":{"./index.js":"../../secret.js"}}`),
			failure.Error{Code: failure.BuildFailed, Message: `does not export`, Path: "/main.js", Line: 1, Column: 8}},
		"manifest": {files("/main.js", `import "./package.json"`), nil, failure.Error{Code: failure.BuildFailed,
			Message: "/package.json is never bundled", Path: "/main.js", Line: 1, Column: 8}},
		"module of Node.js with a package": {files("/main.js", `import "p"`), files("/node_modules/p/index.js",
			"import 'events'"), failure.Error{Code: failure.DependencyNotFound, Message: `Add the npm package "events"`,
			Path: "/node_modules/p/index.js", Line: 1, Column: 8}},
		"no export": {files("/main.js", `import { b } from "./a.js"; console.log(b)`, "/a.js", "export const a = 1"), nil,
			failure.Error{Code: failure.BuildFailed, Message: `No matching export in "/a.js" for import "b"`,
				Path: "/main.js", Line: 1, Column: 10}},
		"alias": {files("/main.js", `import "@/a"`), nil,
			failure.Error{Code: failure.BuildFailed, Message: "The file /src/a does not exist", Path: "/main.js", Line: 1,
				Column: 8}},
		"node": {files("/main.js", `import "fs"`), nil, failure.Error{Code: failure.BuildFailed, Message: "Node.js",
			Path: "/main.js", Line: 1, Column: 8}},
		"less in a page": {files("/index.html", "<p>\n<link rel=stylesheet href=a.less>", "/a.less", ""), nil,
			failure.Error{Code: failure.FrameworkUnsupported, Message: "needs Less", Path: "/index.html", Line: 2, Column: 1}},
		"less": {files("/main.js", `import "./a.less"`, "/a.less", ""), nil,
			failure.Error{Code: failure.FrameworkUnsupported, Message: "needs Less, which builds do not have. Convert it",
				Path: "/main.js", Line: 1, Column: 8}},
		"inline script": {files("/index.html", "<html>\n<script type=\"module\">\n import \"./gone.js\"</script>"), nil,
			failure.Error{Code: failure.BuildFailed, Message: "The file /gone.js does not exist", Path: "/index.html",
				Line: 3, Column: 9}},
		"tsconfig": {files("/main.js", "", "/tsconfig.json", "{"), nil,
			failure.Error{Code: failure.BuildFailed, Message: "not a valid configuration", Path: "/tsconfig.json", Line: 1,
				Column: 1}},
		"package.json": {files("/main.js", "", "/package.json", `{"dependencies":[]}`), nil,
			failure.Error{Code: failure.BuildFailed, Message: "not a valid package.json", Path: "/package.json", Line: 1,
				Column: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantFailure(t, withPage(c.project, c.packages), c.want)
		})
	}
}

// The order of a map has no effect: the same tsconfig.json always has the same result.
func TestBestPathAlias(t *testing.T) {
	t.Parallel()
	p := &project{pathAliases: map[string][]string{
		"*": {"/any/*"}, "lib*": {"/wild/*"}, "lib": {"/exact.ts"}, "lib/*": {"/folder/*"}, "lib/*.css": {"/styles/*.css"},
	}}
	for spec, want := range map[string]string{
		"lib": "/exact.ts", "library": "/wild/rary", "lib/a": "/folder/a", "lib/a.css": "/styles/a.css",
		"other": "/any/other",
	} {
		for range 20 {
			if got, _ := p.aliasedFile(spec); got != want {
				t.Fatalf("%s is %s, want %s", spec, got, want)
			}
		}
	}
}
