package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"devplatform/infra/slicetest"
	"devplatform/shared/deployment/failure"
)

// hostileLimit limits a build with hostile input.
const hostileLimit = time.Minute

const canary = "CANARY-7f3a91"

// plantCanary writes files to a folder of the machine, which becomes the working folder, and returns its path.
func plantCanary(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"canary.js": "export default '" + canary + "'", "canary.css": "." + canary + "{color:red}", "canary.txt": canary,
		"canary.json": `{"a":"` + canary + `"}`, "package.json": `{"name": ` + canary, "tsconfig.json": `{ ` + canary,
		"main.js.map": canary, "sub/a.js": "export default '" + canary + "'", ".pnp.data.json": canary,
		"node_modules/canary/index.js": "export default '" + canary + "'", "canary-broken.js": "let " + canary + " = = 1",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(dir, "sub"))
	return dir
}

func TestMachineStaysUnread(t *testing.T) {
	dir := plantCanary(t)
	up := "../../../../../../../../../.." + dir
	script := func(code string) map[string][]byte { return files("/main.js", code) }
	style := func(code string) map[string][]byte {
		return files("/main.js", `import "./a.css"`, "/a.css", code)
	}
	with := func(manifest string, more ...string) map[string][]byte {
		all := files("/node_modules/p/package.json", manifest, "/node_modules/p/x.js", "export default 1")
		maps.Copy(all, files(more...))
		return all
	}
	for name, c := range map[string]struct {
		project, packages map[string][]byte
		ok                bool // the build succeeds
	}{
		"absolute path":        {project: script(`import x from "` + dir + `/canary.js"; console.log(x)`)},
		"absolute broken":      {project: script(`import "` + dir + `/canary-broken.js"`)},
		"above the root":       {project: script(`import x from "` + up + `/canary.js"; console.log(x)`)},
		"working folder":       {project: script(`import x from "./canary.js"; import y from "./a.js"; console.log(x, y)`)},
		"parent node_modules":  {project: script(`import x from "canary"; console.log(x)`)},
		"optional package":     {project: script(`try { require("canary") } catch {}`), ok: true},
		"optional absolute":    {project: script(`try { require("` + dir + `/canary.js") } catch {}`)},
		"file URL":             {project: script(`import x from "file://` + dir + `/canary.js"; console.log(x)`)},
		"file URL in capitals": {project: script(`import x from "FILE:` + dir + `/canary.js"; console.log(x)`)},
		"backslashes":          {project: script(`import x from ".\\..\\canary.js"; console.log(x)`)},
		"NUL":                  {project: script(`import x from "./canary.js\0.js"; console.log(x)`)},
		"raw":                  {project: script(`import x from "` + dir + `/canary.txt?raw"; console.log(x)`)},
		"type json":            {project: script(`import x from "` + dir + `/canary.json" with { type: "json" }`)},
		"require.resolve":      {project: script(`console.log(require.resolve("` + dir + `/canary.js"))`), ok: true},
		"glob":                 {project: script("import(`../${n}.js`)")},
		"glob at the root":     {project: script("import(`../../../../../../../../${n}.js`)")},
		"glob here":            {project: script("import('./' + n)")},
		"glob with require":    {project: script("require('./' + n)")},
		"glob in parentheses":  {project: script("(require)(('../') + n)")},
		"glob by condition":    {project: script("import(a ? `../${n}.js` : '../' + n)")},
		"glob by condition 2":  {project: script("console.log(require(a ? `../${n}.js` : '../' + n))")},
		"glob with escapes":    {project: script(`r\u0065quire("\x2e./" + n)`)},
		"glob with escapes 2":  {project: script("import(`\\u{2e}./${n}`)")},
		"glob with comments":   {project: script("import /* a */ // b\n ( /* c */ // d\n '../' + n)")},
		"glob with attributes": {project: script("import('../' + n + '.json', { with: { type: 'json' } })")},
		"glob folded":          {project: script("import('.' + './' + n)")},
		"glob in a template":   {project: script("import(`${'..'}/${n}`)")},
		"glob in a template 2": {project: script("import(`${`${''}`}../${n}`)")},
		"glob after nothing":   {project: script("import('' + '../' + n)")},
		"glob by define":       {project: script("import('..' + import.meta.env.BASE_URL + n)")},
		"glob deferred":        {project: script("import.defer('../' + n)")},
		"glob by source":       {project: script("import.source(`../${n}`)")},
		"glob in TypeScript": {project: files("/main.js", `import "./a.ts"`, "/a.ts",
			"enum E { A = '../' }\nimport((E.A as string) + n)")},
		"glob in TypeScript 2": {project: files("/main.js", `import "./a.ts"`, "/a.ts",
			"enum E { A = '../' }\nimport(E.A + n)")},
		"glob in inline script": {project: files("/index.html", "<script type=module>import('../' + n)</script>")},
		"glob in data URL":      {project: script("import(\"data:text/javascript,import(`../${n}.js`)\")")},
		"glob after a HTML comment": {project: files("/main.js", `require("./a.cjs")`, "/a.cjs",
			"import <!-- a\n('../' + n)")},
		"glob after a HTML comment 2": {project: files("/main.js", `require("./a.cjs")`, "/a.cjs",
			"import\n--> a\n('../' + n)")},
		"glob in package": {project: script(`import "p"`), packages: with(`{"main":"x.js"}`,
			"/node_modules/p/x.js", "require('../' + n)"), ok: true},
		"main": {project: script(`import x from "p"`), packages: with(`{"main":"` + up +
			`/canary.js"}`)},
		"main absolute": {project: script(`import x from "p"`), packages: with(`{"main":"` + dir +
			`/canary.js"}`)},
		"exports": {project: script(`import x from "p"`), packages: with(`{"exports":"./` + up +
			`/canary.js"}`)},
		"exports absolute": {project: script(`import x from "p"`), packages: with(`{"exports":"` + dir +
			`/canary.js"}`)},
		"exports pattern": {project: script(`import x from "p/` + up + `/canary.js"`),
			packages: with(`{"exports":{"./*":"./*"}}`)},
		"imports": {project: script(`import x from "p"`),
			packages: with(`{"main":"a.js","imports":{"#a":"`+dir+`/canary.js"}}`, "/node_modules/p/a.js", `import "#a"`)},
		"browser map": {project: script(`import x from "p/x.js"`),
			packages: with(`{"browser":{"./x.js":"` + up + `/canary.js"}}`)},
		"browser map, package": {project: script(`import x from "p/x.js"`),
			packages: with(`{"browser":{"q":"`+dir+`/canary.js"}}`, "/node_modules/p/x.js", `import "q"`)},
		"browser": {project: script(`import x from "p"`), packages: with(`{"browser":"` + up +
			`/canary.js"}`)},
		"extends": {project: files("/main.js", ``, "/tsconfig.json",
			`{"extends":["`+up+`/tsconfig.json","`+dir+`/tsconfig.json"]}`), ok: true},
		"paths": {project: files("/main.js", `import x from "c/canary.js"; import y from "d"`,
			"/tsconfig.json", `{"compilerOptions":{"baseUrl":"`+up+`","paths":{"c/*":["`+up+`/*",
"`+dir+`/*"],"d":["`+dir+`/canary.js"]}}}`)},
		"jsxImportSource": {project: files("/main.js", `console.log(<a/>)`, "/tsconfig.json",
			`{"compilerOptions":{"jsxImportSource":"`+dir+`"}}`)},
		"url": {project: style(`a{background:url(` + dir + `/canary.txt)} b{background:url(` + up +
			`/canary.txt)}`)},
		"url absolute":      {project: style(`a{background:url(` + dir + `/canary.txt)}`), ok: true},
		"url with a scheme": {project: style(`a{background:url(file://` + dir + `/canary.txt)}`)},
		"@import":           {project: style(`@import "` + dir + `/canary.css";`)},
		"@import relative":  {project: style(`@import "canary.css";`)},
		"composes": {project: files("/main.js", `import s from "./a.module.css"; console.log(s.a)`,
			"/a.module.css", `.a{composes: b from "`+dir+`/canary.css"}`)},
		"source map": {project: script("console.log(1)\n//# sourceMappingURL=file://" + dir +
			"/main.js.map"), ok: true},
		"source map, relative": {project: script("console.log(1)\n//# sourceMappingURL=../main.js.map"), ok: true},
		"page": {project: files("/index.html",
			`<script type=module src="`+up+`/canary.js"></script>
<link rel=stylesheet href="`+dir+`/canary.css">
<script type=module>import "`+dir+`/canary.js"</script>`)},
		"entry with *": {project: files("/index.html", `<script type=module src="/*.js"></script>`, "/*.js",
			"")},
		"glob by variable":   {project: files("/main.js", "import(import.meta.env.VITE_DIR + n)", "/.env", "VITE_DIR=../")},
		"import.meta.glob":   {project: script(`console.log(import.meta.glob("` + up + `/*.js"))`)},
		"import.meta.glob 2": {project: script(`console.log(import.meta.glob("` + dir + `/*.js"))`), ok: true},
		"import.meta.glob 3": {project: script(`console.log(import.meta.glob("./**/*", { eager: true, query: "?raw" }))`),
			ok: true},
		"worker": {project: script(`new Worker(new URL("` + up + `/canary.js", import.meta.url))`), ok: true},
		"glob in worker": {project: files("/main.js", `new Worker(new URL("./w.js", import.meta.url))`,
			"/w.js", "import('../' + n)")},
		"URL by template": {project: script("new URL(`../${n}`, import.meta.url); new URL(`./${n}.txt`, import.meta.url)")},
		"new URL": {project: script(`console.log(new URL("` + up + `/canary.js", import.meta.url))`),
			ok: true},
	} {
		t.Run(name, func(t *testing.T) {
			in := withPage(c.project, c.packages)
			out, err := Run(context.Background(), in)
			var f *failure.Error
			if err != nil && !errors.As(err, &f) || (err == nil) != c.ok && name != "entry with *" {
				t.Errorf("error %v, want success: %t", err, c.ok)
			}
			for _, file := range out.Files {
				if bytes.Contains(file.Data, []byte(canary)) {
					t.Errorf("%s contains the canary: %s", file.Path, file.Data)
				}
			}
			text := fmt.Sprint(err, out.Warnings)
			if strings.Contains(text, canary) || strings.Contains(text, "deployment-") || strings.Contains(text, "/dev/null") {
				t.Errorf("the messages reveal something: %s", text)
			}
			if code, ok := c.project["/main.js"]; ok && strings.HasPrefix(name, "glob") {
				wantUnreadPackage(t, string(code))
			}
		})
	}
}

// wantUnreadPackage builds with code of the project as a package, where a computed path is not an error.
func wantUnreadPackage(t *testing.T, code string) {
	t.Helper()
	in := withPage(files("/main.js", `import "p"`), files("/node_modules/p/index.js", code))
	out, err := Run(context.Background(), in)
	var f *failure.Error
	if err != nil && !errors.As(err, &f) {
		t.Errorf("error %v", err)
	}
	for _, file := range out.Files {
		if bytes.Contains(file.Data, []byte(canary)) {
			t.Errorf("%s contains the canary: %s", file.Path, file.Data)
		}
	}
}

func TestExternalReferencesStay(t *testing.T) {
	t.Parallel()
	out := mustRun(t, withPage(files("/main.js", `import "./a.css"`, "/a.css",
		`@import "https://fonts.example/a.css"; a{background:url(//cdn.example/b.png)} b{fill:url(#c)} c{background:url(missing.png)}
		d{background:url(data:image/png;base64,AA==)} e{background:url(img/a.svg#x)} f{background:url(/logo.png)}`,
		"/img/a.svg", "<svg/>", "/public/logo.png", ""), nil))
	for name, css := range out {
		if !strings.HasSuffix(name, ".css") || !strings.HasPrefix(name, "/assets") {
			continue
		}
		for _, want := range []string{`@import"https://fonts.example/a.css"`, "url(//cdn.example/b.png)", "url(#c)",
			"url(/missing.png)",
			"url(data:image/png;base64,AA==)", "url(\"/assets/a-", ".svg#x\")", "url(/logo.png)"} {
			if !strings.Contains(css, want) {
				t.Errorf("%s does not contain %s", css, want)
			}
		}
	}
}

// peak runs f. It returns the time, and an upper bound of the memory that was in use at the same time, sampled. It does
// not count memory that was in use before, such as the inputs of other tests.
func peak(f func()) (time.Duration, uint64) {
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	done, highest := make(chan struct{}), make(chan uint64)
	go func() {
		var m runtime.MemStats
		var top uint64
		for {
			select {
			case <-done:
				highest <- top
				return
			case <-time.After(20 * time.Millisecond):
				runtime.ReadMemStats(&m)
				top = max(top, m.HeapInuse+m.StackInuse)
			}
		}
	}()
	start := time.Now()
	f()
	took := time.Since(start)
	close(done)
	used := <-highest
	return took, used - min(used, before.HeapInuse+before.StackInuse)
}

// TestHeavyInput checks that each input ends in a build or an error within 60 seconds and 1 GiB.
func TestHeavyInput(t *testing.T) {
	if testing.Short() || slicetest.HasRaceDetector {
		t.Skip("takes a minute, and several gigabytes with the race detector")
	}
	cycle := files("/main.js", `import "./m0.js"`)
	for i := range 1000 {
		cycle[fmt.Sprintf("/m%d.js", i)] = fmt.Appendf(nil,
			`import { a as b } from "./m%d.js"; export const a = () => b; console.log(a)`, (i+1)%1000)
	}
	modules := map[string][]byte{}
	var imports strings.Builder
	for i := range 100_000 {
		modules[fmt.Sprintf("/m/%d.js", i)] = fmt.Appendf(nil, "export const a%d = %d; console.log(a%d)", i, i, i)
		fmt.Fprintf(&imports, "import \"./m/%d.js\"\n", i)
	}
	modules["/main.js"] = []byte(imports.String())
	fewer := map[string][]byte{}
	for i := range 10_000 {
		name := fmt.Sprintf("/m/%d.js", i)
		fewer[name] = modules[name]
	}
	fewer["/main.js"] = []byte(strings.Join(strings.SplitAfterN(imports.String(), "\n", 10_001)[:10_000], ""))
	absent := files("/main.js", strings.ReplaceAll(imports.String(), "./m/", "m"))
	repeat := func(s string, n int) string { return strings.Repeat(s, n/len(s)) }
	const size = 2 << 20
	page := func(code string) map[string][]byte { return files("/main.js", code) }
	style := func(code string) map[string][]byte { return files("/main.js", `import "./a.css"`, "/a.css", code) }
	data := func(code string) map[string][]byte {
		return files("/main.js", `import a from "./a.json"; console.log(a)`, "/a.json", code)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(900 << 20))
	for name, in := range map[string]Input{
		"cycle":              withPage(cycle, nil),
		"10,000 modules":     withPage(fewer, nil),
		"absent packages":    withPage(absent, nil),
		"absent files":       withPage(map[string][]byte{"/main.js": modules["/main.js"]}, nil),
		"100,000 modules":    withPage(modules, nil),
		"CSS line":           withPage(style(repeat("a{color:red}", size)), nil),
		"CSS line of 25 MiB": withPage(style(repeat("a{color:red}", 25<<20)), nil),
		"JS line of 25 MiB":  withPage(page(repeat("a();", 25<<20)), nil),
		"JS else":            withPage(page(repeat("if(a);else ", size)), nil),
		"JS for":             withPage(page(repeat("for(;;)", size)), nil),
		"JS conditions 2":    withPage(page(repeat("a?[1,1]:", 1<<20)+"1"), nil),
		"JS commas":          withPage(page(repeat("a,", 4*size)+"1"), nil),
		"JS variables":       withPage(page("var "+repeat("a,", 4*size)+"a"), nil),
		"JS objects":         withPage(page("x=["+repeat("{},", 4*size)+"]"), nil),
		"JSON numbers":       withPage(data("["+repeat("1,", 4*size)+"1]"), nil),
		"CSS small":          withPage(style(repeat("a{color:red}", 500<<10)), nil),
		"CSS one rule":       withPage(style("a{"+repeat("color:red;", size)+"}"), nil),
		"CSS broken":         withPage(style(repeat("a{colr:red}}", size)), nil),
		"CSS words":          withPage(style(repeat("a ", size)), nil),
		"CSS nested":         withPage(style(repeat("a{", size)), nil),
		"CSS url":            withPage(style(repeat("a{b:url(x.png)}", size)), nil),
		"JSON nested":        withPage(data(repeat("[", size)), nil),
		"JSON objects":       withPage(data(repeat(`{"a":`, size)), nil),
		"JS nested":          withPage(page(repeat("[", size)), nil),
		"JS not":             withPage(page(repeat("!", size)), nil),
		"JS typeof":          withPage(page(repeat("typeof ", size)), nil),
		"JS arrow":           withPage(page(repeat("a=>", size)), nil),
		"JS conditions":      withPage(page(repeat("a?b:", size)), nil),
		"JS sum":             withPage(page("x=1"+repeat("+a", size)), nil),
		"JS chain":           withPage(page("x=a"+repeat(".a", size)), nil),
		"JS statements":      withPage(page(repeat("a();", size)), nil),
		"invalid UTF-8":      withPage(page("console.log('\xff\xfe"+repeat("\xff", 1<<20)+"')"), nil),
		"invalid UTF-8 id":   withPage(page("let \xff = 1"), nil),
		"tsconfig nested":    withPage(files("/main.js", "", "/tsconfig.json", repeat("[", size)), nil),
		"package.json":       withPage(files("/main.js", "", "/package.json", repeat(`{"a":`, size)), nil),
		"exports nested": withPage(page(`import "p"`), files("/node_modules/p/package.json",
			`{"name":"p","exports":`+repeat(`{"import":`, 50_000)+`"./a.js"`+repeat("}", 5_000)+`}`)),
		"page of scripts": {Files: files("/index.html", repeat(`<script type=module>import "./a.js"</script>`, size),
			"/a.js", "")},
		"globs": withPage(func() map[string][]byte {
			all := maps.Clone(fewer)
			all["/main.js"] = []byte(repeat("import.meta.glob('./**/{a,b}*/**/*.js');", 16<<10))
			return all
		}(), nil),
		"globs of all": withPage(func() map[string][]byte {
			all := maps.Clone(fewer)
			all["/main.js"] = []byte(repeat("import.meta.glob('./**/*.js');", 14<<10))
			return all
		}(), nil),
		"many workers": withPage(workers(800), nil), "too many workers": withPage(workers(5000), nil),
		"URLs":                 withPage(page(repeat("new URL('./main.js', import.meta.url);", 256<<10)), nil),
		"URLs of absent files": withPage(page(repeat("new URL('a',import.meta.url);", 256<<10)), nil),
		"types of glob": withPage(files("/main.js", `import "./a.ts"`, "/a.ts",
			repeat("import.meta.glob<A>('./a');\nimport.meta.glob < (a) < (b);", 256<<10)), nil),
		"computed in package": withPage(page(`import "p"`), files("/node_modules/p/index.js",
			repeat("import('./'+n);", 64<<10))),
		"page of tags":   {Files: files("/index.html", repeat(`<b a=1>`, size))},
		"page of quotes": {Files: files("/index.html", repeat(`<b a='`, size))},
	} {
		t.Run(name, func(t *testing.T) {
			var out Output
			var err error
			ctx, cancel := context.WithTimeout(context.Background(), hostileLimit)
			defer cancel()
			took, memory := peak(func() { out, err = Run(ctx, in) })
			debug.FreeOSMemory()
			t.Logf("%.1f s, %d MiB, %d files, %v", took.Seconds(), memory>>20, len(out.Files), shorten(err))
			var f *failure.Error
			if err != nil && !errors.As(err, &f) {
				t.Errorf("unexpected error: %v", shorten(err))
			}
			if f != nil && len(f.Message) > 1000 {
				t.Errorf("the message has %d bytes", len(f.Message))
			}
			if took > time.Minute || memory > 1<<30 {
				t.Errorf("took %v and %d MiB", took, memory>>20)
			}
		})
	}
}

// workers returns a project that starts n workers.
func workers(n int) map[string][]byte {
	all := map[string][]byte{}
	for i := range n {
		all["/main.js"] = fmt.Appendf(all["/main.js"], "new Worker(new URL('./w%d.js', import.meta.url));\n", i)
		all[fmt.Sprintf("/w%d.js", i)] = fmt.Appendf(nil, "postMessage(%d)", i)
	}
	return all
}

func shorten(err error) string {
	text := fmt.Sprint(err)
	return text[:min(len(text), 200)]
}

func TestContextEnds(t *testing.T) {
	t.Parallel()
	in := map[string][]byte{"/main.js": nil}
	for i := range 5000 {
		in["/main.js"] = fmt.Appendf(in["/main.js"], "import \"./m%d.js\"\n", i)
		in[fmt.Sprintf("/m%d.js", i)] = []byte("console.log(1)")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Run(ctx, withPage(in, nil))
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > time.Second {
		t.Errorf("got %v after %v", err, time.Since(start))
	}
}
