package build

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"devplatform/infra/testmode"
	"devplatform/shared/deployment/failure"
)

const canary = "CANARY-7f3a91"

// machine makes a folder with files that no build may read, and returns it and a folder below it for a build. The
// manifests apply to the folder of the build, if a tool looks for them above it.
func machine(t testing.TB) (outside, dir string) {
	t.Helper()
	outside = t.TempDir()
	dir = filepath.Join(outside, "build")
	for name, content := range map[string]string{
		"canary.js": "export default '" + canary + "'", "canary.css": "." + canary + "{color:red}", "canary.txt": canary,
		"canary.json": `{"a":"` + canary + `"}`, "main.js.map": canary, "canary-broken.js": "let " + canary + " = = 1",
		"canary.png": canary, "sub/a.js": "export default '" + canary + "'",
		"node_modules/canary/index.js":       "export default '" + canary + "'",
		"node_modules/canary/package.json":   `{"name":"canary","main":"index.js"}`,
		"node_modules/canary/jsx-runtime.js": "export const jsx = '" + canary + "'",
		"package.json": `{"name":"outer","imports":{"#canary":"./canary.js"},"browser":{"./build/files/kept.js":"./canary.js",
			"mapped":"./canary.js"},"exports":{".":"./canary.js"}}`,
		"tsconfig.json": `{"compilerOptions":{"jsxFactory":"CANARY_factory","paths":{"canary/*":["./*"]},"baseUrl":"."}}`,
		".pnp.data.json": `{"enableTopLevelFallback":true,"fallbackPool":[["canary","1"]],"packageRegistryData":[
			[null,[[null,{"packageLocation":"./","packageDependencies":[["canary","1"]]}]]],
			["canary",[["1",{"packageLocation":"./node_modules/canary/","packageDependencies":[]}]]]]}`, ".env": "VITE_CANARY=" + canary,
	} {
		file := filepath.Join(outside, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return outside, dir
}

// attack is an attempt to read the machine.
type attack struct{ project, packages map[string][]byte }

// attacks returns attempts to read the files of machine. In the texts, ABS is the path of its folder, and UP a relative
// path to it, from any folder of a project.
func attacks() map[string]attack {
	all := map[string]attack{}
	add := func(kind string, n int, a attack) { all[fmt.Sprintf("%s %d", kind, n)] = a }
	for i, spec := range []string{
		"ABS/canary.js", "UP/canary.js", "../canary.js", "../../canary.js", "./../../canary.js", "file://ABS/canary.js",
		"FILE:ABS/canary.js", "ABS/canary.txt?raw", "UP/canary.txt?raw", "../../canary.txt?url", "../../canary.png?inline",
		"../../canary.css?inline", "../../canary.js?worker", "../../canary.js?worker&url", "../../canary.json",
		"/../../canary.js", "//ABS/canary.js", "/proc/self/environ?raw", "../../../../../../../proc/self/environ?raw",
		"canary", "canary/index.js", "canary/jsx-runtime", "#canary", "outer", "mapped", `.\\..\\..\\canary.js`,
		"./canary.js\\0.js", "../../sub", "@/../../../canary.js", "~/canary", "./x/../../../canary.js", "../../canary",
		"../output/canary.js", "../../canary.js#x", "../../canary-broken.js", "node_modules/../../../canary.js",
		"p/../../../../canary.js", "data:text/javascript,import('../../canary.js')", "../../node_modules/canary",
	} {
		project := files("/main.js", `import x from "`+spec+`"; console.log(x)`)
		add("import", i, attack{project, nil})
		add("optional require", i, attack{files("/main.js", `try { console.log(require("`+spec+`")) } catch {}`), nil})
		add("import of a package", i, attack{files("/main.js", `import "p"`), files("/node_modules/p/index.js",
			`import x from "`+spec+`"; console.log(x)`)})
		add("style sheet", i, attack{files("/main.js", `import "./a.css"`, "/a.css", `@import "`+spec+`"; a{b:url(`+spec+
			`)} .c{composes: d from "`+spec+`"}`), nil})
	}
	for i, code := range []string{
		"import(`UP/${n}.js`)", "import('../../' + n)", "import(`../${n}/canary.js`)", "require('../../' + n)",
		"(require)(('../../') + n)", "import(a ? `../../${n}.js` : '../../' + n)", `r\u0065quire("\x2e./../" + n)`,
		"import(`\\u{2e}./../${n}`)", "import /* a */ // b\n ( /* c */ // d\n '../../' + n)",
		"import('../../' + n + '.json', { with: { type: 'json' } })", "import('.' + './../' + n)",
		"import(`${'..'}/../${n}`)", "import(`${`${''}`}../../${n}`)", "import('' + '../../' + n)",
		"import('..' + import.meta.env.BASE_URL + '../' + n)", "import.defer('../../' + n)", "import.source(`../../${n}`)",
		"import(import.meta.env.VITE_DIR + n)", "import(`./x/../../../${n}`)", "import(`./${n}/../../../canary.js`)",
		"import('../../missing/' + n)", "import('../../../../../../../../proc/' + n)", `import("..\\..\\" + n)`,
		"import.meta.glob('../../*.js')", "import.meta.glob('ABS/*.js', { eager: true, query: '?raw' })",
		"import.meta.glob(['./**/*', '../**/*'], { eager: true, query: '?raw' })", "import.meta.glob('/../../*')",
		"new Worker(new URL('../../canary.js', import.meta.url))", "new URL('UP/canary.txt', import.meta.url)",
		"new URL(`../../${n}.txt`, import.meta.url)", "new URL('canary/index.js', import.meta.url)",
		"require.resolve('ABS/canary.js')", "//# sourceMappingURL=file://ABS/main.js.map", "<a/>",
		"//# sourceMappingURL=../../main.js.map", "import x from './d.json' with { type: 'text' }",
	} {
		extra := files("/.env", "VITE_DIR=../../", "/d.json", "{}")
		project := files("/main.js", code)
		maps.Copy(project, extra)
		add("code", i, attack{project, nil})
		typed := files("/main.js", `import "./a.tsx"`, "/a.tsx", code)
		maps.Copy(typed, extra)
		add("code in TypeScript", i, attack{typed, nil})
		add("code in a package", i, attack{files("/main.js", `import "p"`), files("/node_modules/p/index.js", code)})
		add("inline script", i, attack{files("/index.html", "<script type=module>import './main.js'\n"+code+"</script>",
			"/main.js", "", "/.env", "VITE_DIR=../../"), nil})
		add("worker", i, attack{files("/main.js", "new Worker(new URL('./w.js', import.meta.url))", "/w.js", code), nil})
	}
	for i, manifest := range []string{
		`{"main":"UP/canary.js"}`, `{"main":"ABS/canary.js"}`, `{"module":"UP/canary.js"}`, `{"exports":"./UP/canary.js"}`,
		`{"exports":"ABS/canary.js"}`, `{"exports":{"./*":"./UP/*"}}`, `{"browser":"UP/canary.js"}`,
		`{"main":"../../../../canary"}`,
		`{"browser":{"./index.js":"UP/canary.js"}}`, `{"browser":{"q":"ABS/canary.js"}}`,
		`{"imports":{"#q":"ABS/canary.js"}}`,
		`{"imports":{"#q":"UP/canary.js"}}`, `{"sideEffects":["UP/*"]}`, `{"main":"../../../../sub"}`,
		`{"main":"../../../../"}`,
		`{"name":"p","exports":{"./x":"./../../../../canary.js"}}`, `{"main":"./missing/../../../../../canary.js"}`,
	} {
		packages := files("/node_modules/p/package.json", manifest, "/node_modules/p/index.js",
			`try { require("#q") } catch {}; try { require("q") } catch {}; console.log("index")`)
		add("package.json", i, attack{files("/main.js", `import "p"; import x from "p"; console.log(x)`), packages})
		add("package.json and a file", i, attack{files("/main.js",
			`try { require("p/canary.js") } catch {}; require("p/x")`), packages})
		nested := maps.Clone(packages)
		nested["/node_modules/p/sub/package.json"] = []byte(strings.ReplaceAll(manifest, "../../../../", "../../../../../"))
		add("nested package.json", i, attack{files("/main.js", `import x from "p/sub"; console.log(x)`), nested})
	}
	for i, name := range []string{".pnp.data.json", ".pnp.cjs", ".pnp.js"} {
		data := `{"packageRegistryData":[[null,[[null,{"packageLocation":"./","packageDependencies":[["canary","1"]]}]]],
			["canary",[["1",{"packageLocation":"../../../../node_modules/canary/","packageDependencies":[]}]]]]}`
		if i > 0 {
			data = "const RAW_RUNTIME_STATE = '" + strings.ReplaceAll(data, "\n", "") + "'"
		}
		add("Yarn", i, attack{files("/main.js", `import "p"`), files("/node_modules/p/"+name, data,
			"/node_modules/p/index.js", `import x from "canary"; console.log(x)`)})
	}
	for i, config := range []string{
		`{"extends":["UP/tsconfig.json","ABS/tsconfig.json"]}`, `{"extends":"../../tsconfig"}`,
		`{"compilerOptions":{"baseUrl":"../..","paths":{"c/*":["./*"]}}}`,
		`{"compilerOptions":{"baseUrl":"ABS","paths":{"c/*":["*","ABS/*","UP/*","../../*"]}}}`,
		`{"compilerOptions":{"jsxImportSource":"ABS/node_modules/canary"}}`,
		`{"compilerOptions":{"jsxImportSource":"canary"}}`,
		`{"compilerOptions":{"jsxImportSource":"../../node_modules/canary"}}`,
	} {
		add("tsconfig.json", i, attack{files("/main.js", `import x from "c/canary"; console.log(<a/>, x)`, "/tsconfig.json",
			config), nil})
	}
	for i, html := range []string{
		`<script type=module src="UP/canary.js"></script>`, `<script type=module src="ABS/canary.js"></script>`,
		`<link rel=stylesheet href="UP/canary.css">`, `<link rel=stylesheet href="file://ABS/canary.css">`,
		`<img src="../../canary.png"><style>a{b:url(../../canary.png)}</style><p style="b:url(ABS/canary.png)">`,
		`<base href="/../../"><script type=module src="canary.js"></script>`, `<script type=module src="/*.js"></script>`,
		`<script type=importmap>{"imports":{"canary":"ABS/canary.js"}}</script><script type=module>import "canary"</script>`,
		`<p>%VITE_CANARY%`, `<link rel=modulepreload href="../../canary.js">`,
	} {
		add("page", i, attack{files("/index.html", html, "/*.js", "import '../../canary.js'"), nil})
	}
	return all
}

func replaceAll(all map[string][]byte, outside string) map[string][]byte {
	r := strings.NewReplacer("ABS", outside, "UP", "../../../../../../../../../../.."+outside)
	replaced := map[string][]byte{}
	for name, data := range all {
		replaced[name] = []byte(r.Replace(string(data)))
	}
	return replaced
}

// outcome returns everything that the owner of a project sees of a build.
func outcome(t testing.TB, outside, dir string, a attack) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s := withPage(replaceAll(a.project, outside), replaceAll(a.packages, outside))
	out, err := runIn(t, dir, s)
	if _, ok := errors.AsType[*failure.Error](err); err != nil && !ok {
		return fmt.Sprint("internal error", err)
	}
	var text strings.Builder
	fmt.Fprintln(&text, err, out.Notes, out.Warnings)
	for _, file := range out.Files {
		fmt.Fprintf(&text, "%s %s\n", file.Path, file.Data)
	}
	return strings.ReplaceAll(text.String(), outside, "")
}

// TestMachineStaysUnread tries to read the machine without the kernel's protection. No text of a file outside may be
// in an output, a line of the log or a message. The outcome is the same if the files do not exist, so that no build
// can find out which files the machine has.
func TestMachineStaysUnread(t *testing.T) {
	testmode.SkipIfShort(t)
	t.Parallel()
	all := attacks()
	if len(all) < 300 {
		t.Errorf("there are %d attacks", len(all))
	}
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if i%3 != 0 && !testmode.IsNightly() {
			continue // the other attacks take too long
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := all[name]
			outside, dir := machine(t)
			got := outcome(t, outside, dir, a)
			if strings.Contains(got, canary) || strings.Contains(got, "CANARY_factory") || strings.Contains(got, "PATH=") {
				t.Errorf("the outcome contains a file of the machine: %s", got)
			}
			if strings.Contains(got, filepath.Base(filepath.Dir(outside))) {
				t.Errorf("the outcome contains a path of the machine: %s", got)
			}
			if err := os.RemoveAll(outside); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(outside, 0o700); err != nil {
				t.Fatal(err)
			}
			// A package in a folder above is refused. If it does not exist, an optional import of it is no error.
			isAbove := strings.HasPrefix(name, "optional require") && strings.Contains(got, `"canary" is not installed`)
			if clean := outcome(t, outside, dir, a); clean != got && !isAbove {
				t.Errorf("the outcome shows whether files exist:\n%s\nwithout them:\n%s", got, clean)
			}
		})
	}
}
