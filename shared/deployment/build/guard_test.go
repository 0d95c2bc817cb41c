package build

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"devplatform/infra/testmode"
)

const secretText = "SECRET-51c0de"

// references are the ways in which a file can refer to another file. FILE is the path of the other file.
var references = []string{
	`import x from "FILE"; console.log(x)`, `import x from "FILE?raw"; console.log(x)`,
	`import x from "FILE?url"; console.log(x)`, `import x from "FILE?inline"; console.log(x)`,
	`import x from "FILE?init"; console.log(x)`, `import X from "FILE?worker"; new X()`,
	`import x from "FILE?worker&url"; console.log(x)`, `import x from "FILE?sharedworker"; new x()`,
	`import x from "FILE?react"; console.log(x)`, `console.log(require("FILE"))`, `import("FILE").then(console.log)`,
	`import x from "FILE" with { type: "text" }; console.log(x)`,
	`import x from "FILE" with { type: "json" }; console.log(x)`, `console.log(new URL("FILE", import.meta.url))`,
	`new Worker(new URL("FILE", import.meta.url))`, `import "./url.css"`, `import "./import.css"`,
	`import s from "./a.module.css"; console.log(s)`, `import("FILE" + n)`, "import(`FILE${n}`)", `require("FILE" + n)`,
	"new URL(`FILE${n}`, import.meta.url)",
	`console.log(import.meta.glob("FILE", { eager: true, query: "?raw" }))`,
	`console.log(import.meta.glob("FILE*", { eager: true, query: "?url" }))`,
}

// folderWith returns the files of a folder with more files. One of them has the code, which refers to a file.
func folderWith(folder, code, file string, more map[string][]byte) map[string][]byte {
	all := files(folder+"main.js", strings.ReplaceAll(code, "FILE", file),
		folder+"url.css", `a{background:url("`+file+`")}`, folder+"import.css", `@import "`+file+`";`,
		folder+"a.module.css", `.a{composes: b from "`+file+`"}`)
	maps.Copy(all, more)
	return all
}

// wantNoSecret fails the test if an output or a message contains the text of a file that may not be read.
func wantNoSecret(t *testing.T, s sources) {
	t.Helper()
	out, err := run(t, s)
	text := fmt.Sprint(err, out.Notes, out.Warnings)
	for _, f := range out.Files {
		text += string(f.Data)
	}
	if strings.Contains(text, secretText) || strings.Contains(text, "U0VDUkVULTUxYzBkZQ") { // also as base64
		t.Errorf("%q is in the outcome: %.1000s", s.Files["/main.js"], text)
	}
}

// TestNeverBundled checks that files that are never published cannot be published or bundled in any way.
func TestNeverBundled(t *testing.T) {
	testmode.SkipIfShort(t)
	t.Parallel()
	for name := range strings.FieldsSeq(`/.env /.env.local /.git/config /sub/.npmrc /server.pem /a.key /a.p12 /a.pfx /a.jks
		/id_rsa /id_rsa.pub /a.kdbx /package.json /package-lock.json /yarn.lock /pnpm-lock.yaml /bun.lock /tsconfig.json
		/tsconfig.app.json /_redirects /_headers /node_modules/p/a.js /public/.env /public/a.pem /.htpasswd`) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := files(name, `{"a":"`+secretText+`"}`)
			for _, code := range references {
				wantNoSecret(t, withPage(folderWith("/", code, "."+name, secret), nil))
			}
			html := `<img src="` + name + `"><script type=module src="` + name + `"></script><link rel=stylesheet href="` +
				name + `"><script src="` + name + `"></script><style>a{b:url(` + name + `)}</style>`
			wantNoSecret(t, sources{Files: folderWith("/", "", name, files("/index.html", html, name, string(secret[name])))})
		})
	}
}

// TestPackagesReadPackagesOnly checks that a package cannot read a file of the project in any way.
func TestPackagesReadPackagesOnly(t *testing.T) {
	t.Parallel()
	project := files("/main.js", `import "p"`, "/src/secret.js", `export default "`+secretText+`"`,
		"/src/secret.svg", "<svg>"+secretText+"</svg>", "/src/secret.css", "."+secretText+"{}")
	page := func(packages map[string][]byte) sources {
		all := maps.Clone(project)
		all["/index.html"] = []byte(`<script type=module src=/main.js></script>`)
		all["/package.json"] = []byte(appManifest) // the sources are not published
		return sources{Files: all, Packages: packages}
	}
	targets := []string{"../../../src/secret.js", "../../../src/secret.svg", "../../../src/secret.css", "/src/secret.js",
		"@/secret.js", "./../../../src/../src/secret.svg"}
	for _, code := range references {
		for _, target := range targets {
			packages := folderWith("/node_modules/p/lib/", code, target,
				files("/node_modules/p/package.json", `{"main":"lib/main.js"}`))
			wantNoSecret(t, page(packages))
		}
	}
	for _, manifest := range []string{
		`{"main":"../../src/secret.js"}`, `{"module":"../../src/secret.js","main":"a.js"}`,
		`{"browser":"../../src/secret.js"}`,
		`{"browser":{"./index.js":"../../src/secret.js"}}`, `{"exports":"./../../src/secret.js"}`,
		`{"main":"a.js","browser":{"q":"../../src/secret.js"}}`, `{"main":"a.js","imports":{"#q":"../../src/secret.js"}}`,
	} {
		wantNoSecret(t, page(files("/node_modules/p/package.json", manifest, "/node_modules/p/index.js", "",
			"/node_modules/p/a.js", `import x from "q"; import y from "#q"; console.log(x, y)`)))
	}
}

// TestPackageLimits checks that the limits count what a build uses, and name what is large.
func TestPackageLimits(t *testing.T) {
	t.Parallel()
	u := usage{}
	for i := range maxPackages {
		u[fmt.Sprintf("/node_modules/p%d", i)] = map[string]int{"a.js": 1000}
	}
	if err := u.check(); err != nil {
		t.Errorf("got %v", err)
	}
	var imports strings.Builder
	packages := map[string][]byte{}
	for i := range maxPackages + 1 {
		fmt.Fprintf(&imports, "import 'p%d'\n", i)
		packages[fmt.Sprintf("/node_modules/p%d/index.js", i)] = []byte("console.log(1)")
	}
	for main, want := range map[string]string{
		imports.String(): "The site uses 501 packages", strings.Replace(imports.String(), "import 'p0'", "", 1): "",
	} {
		_, err := run(t, withPage(files("/main.js", main), packages))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	u["/node_modules/a/node_modules/@b/c"] = map[string]int{"a.js": 3 << 20}
	err := u.check()
	const want = "DEPENDENCY_TOO_LARGE: The site uses 501 packages with 3.5 MiB, and the limits are 500 packages and 100 MiB. " +
		"The largest are @b/c (3.0 MiB), "
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
