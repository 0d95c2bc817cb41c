package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/tree"
)

// files returns files from pairs of paths and contents.
func files(pairs ...string) map[string][]byte {
	m := map[string][]byte{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = []byte(pairs[i+1])
	}
	return m
}

// fakeReact is a package with React's entries, which renders to a string.
func fakeReact() map[string][]byte {
	return files(
		"/node_modules/react/package.json", `{"name":"react","main":"index.js","exports":{".":{"react-server":"./no.js",
			"default":"./index.js"},"./jsx-runtime":"./jsx-runtime.js"}}`,
		"/node_modules/react/index.js",
		`if (process.env.NODE_ENV === "production") { module.exports = require("./cjs/prod.js") }
			else { module.exports = require("./cjs/dev.js") }`,
		"/node_modules/react/cjs/prod.js", `exports.useState = (v) => [typeof v === "function" ? v() : v, () => {}];
			exports.useEffect = () => {}; exports.StrictMode = "strict"`,
		"/node_modules/react/cjs/dev.js", `exports.development = "react in development"`,
		"/node_modules/react/jsx-runtime.js",
		`exports.Fragment = "fragment"; exports.jsx = exports.jsxs = (type, props) => ({ type, props })`,
		"/node_modules/react-dom/package.json", `{"name":"react-dom","exports":{"./client":{"default":"./client.js"}}}`,
		"/node_modules/react-dom/client.js", `exports.createRoot = (e) => ({ render: (x) => e.append(JSON.stringify(x)) })`,
	)
}

// readTree returns the files of a folder of the repository.
func readTree(t testing.TB, folder, prefix string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(folder, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(folder, name)
		all[prefix+"/"+filepath.ToSlash(rel)] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sources are the files of a project and of its packages.
type sources struct {
	Files, Packages map[string][]byte
	Framework       string
	Variables       map[string]string
}

// input returns the input of a build, which installs the packages.
func (s sources) input() Input {
	return Input{Files: s.Files, Framework: s.Framework, Variables: s.Variables,
		Install: func(_ context.Context, _ map[string][]byte, t *tree.Tree) error {
			for name, data := range s.Packages {
				if err := t.Add(bytes.NewReader(data), int64(len(data)), name); err != nil {
					return err
				}
			}
			return nil
		}}
}

// run builds in this process, in a folder without Landlock.
func run(t testing.TB, s sources) (Output, error) { return runIn(t, t.TempDir(), s) }

func runIn(t testing.TB, dir string, s sources) (Output, error) {
	t.Helper()
	in := s.input()
	if err := checkFramework(in); err != nil {
		return Output{}, err
	}
	source, err := tree.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	ctx := t.Context()
	if err := errors.Join(writeFiles(source, in), in.Install(ctx, nil, source), source.Finish(ctx)); err != nil {
		t.Fatal(err)
	}
	r, data, err := runInFolder(dir, newJob(in, source))
	if err != nil {
		return Output{}, err
	}
	return r.output(bytes.Join(data, nil), in)
}

// mustRun builds and returns the output by path.
func mustRun(t testing.TB, in sources) map[string]string {
	t.Helper()
	out, err := run(t, in)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range out.Files {
		all[f.Path] = string(f.Data)
	}
	return all
}

// wantPaths checks the paths of an output. A hash is written as HASH.
func wantPaths(t *testing.T, out map[string]string, want ...string) {
	t.Helper()
	var got []string
	for name := range maps.Keys(out) {
		got = append(got, hash.ReplaceAllString(name, "-HASH."))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("paths:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// wantFailure builds and checks the error.
func wantFailure(t *testing.T, in sources, want failure.Error) {
	t.Helper()
	out, err := run(t, in)
	got, ok := errors.AsType[*failure.Error](err)
	if !ok {
		t.Fatalf("got %v with %d files, want %v", err, len(out.Files), want)
	}
	if !strings.Contains(got.Message, want.Message) {
		t.Errorf("message %q, want a part %q", got.Message, want.Message)
	}
	want.Message = got.Message
	if *got != want {
		t.Errorf("got %+v, want %+v", *got, want)
	}
}

func TestStatic(t *testing.T) {
	t.Parallel()
	in := readTree(t, "testdata/static", "")
	out := mustRun(t, sources{Files: in, Framework: "static"})
	wantPaths(t, out, "/app.js", "/assets/styles-HASH.css", "/index.html", "/styles.css")
	if out["/app.js"] != string(in["/app.js"]) {
		t.Error("the plain script was changed")
	}
	var sheet string
	for name := range out {
		if strings.HasPrefix(name, "/assets/") {
			sheet = name
		}
	}
	want := strings.Replace(string(in["/index.html"]), `href="styles.css"`, `href="`+sheet+`"`, 1)
	if out["/index.html"] != want {
		t.Errorf("page:\n%s\nwant:\n%s", out["/index.html"], want)
	}
}

func TestReact(t *testing.T) {
	t.Parallel()
	in := readTree(t, "testdata/react", "")
	out := mustRun(t, sources{Files: in, Packages: fakeReact(), Framework: "react"})
	wantPaths(t, out, "/assets/main-HASH.css", "/assets/main-HASH.js", "/index.html")
	page := hash.ReplaceAllString(out["/index.html"], "-HASH.")
	want := strings.NewReplacer(`src="/src/main.jsx"`, `src="/assets/main-HASH.js"`,
		"</head>", `<link rel="stylesheet" href="/assets/main-HASH.css"></head>`).Replace(string(in["/index.html"]))
	if page != want {
		t.Errorf("page:\n%s\nwant:\n%s", page, want)
	}
	for _, data := range out {
		if strings.Contains(data, "react in development") || strings.Contains(data, t.Name()) { // the folder of the build
			t.Errorf("unexpected content: %s", data)
		}
	}
}

var hash = regexp.MustCompile(`-[A-Z0-9]{8}\.`)

// TestProcess compares builds in a process of their own with builds in this process.
func TestProcess(t *testing.T) {
	t.Parallel()
	static := files("/index.html", `<script type=module src=main.js></script>`, "/main.js", "console.log(1)", "/a.py", "",
		"/.env", "", "/public/.well-known/a.txt", "A", "/_redirects", "/a /b")
	app := maps.Clone(static)
	maps.Copy(app, files("/package.json", appManifest, "/vite.config.js",
		`export default { plugins: [], other: 1 }`, "/a.key", "", "/main.js", `import "p"; import "./worker.js?worker"`,
		"/worker.js", "postMessage(1)"))
	broken := maps.Clone(app)
	broken["/main.js"] = []byte("import 'q'")
	packages := files("/node_modules/p/index.js", `require("fs")`, "/node_modules/q/index.js", `require("events")`)
	for name, s := range map[string]sources{
		"static": {Files: static}, "app": {Files: app, Packages: packages}, "broken": {Files: broken, Packages: packages},
	} {
		want, wantErr := run(t, s)
		got, err := Run(t.Context(), s.input())
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s: got error %v, want %v", name, err, wantErr)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: mismatch (-want +got):\n%s", name, diff)
		}
	}
}
