package build

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"devplatform/shared/deployment/failure"
)

func TestPages(t *testing.T) {
	t.Parallel()
	const script = "console.log(1)"
	for name, c := range map[string]struct {
		files map[string][]byte
		want  []string
		page  string // a part of /index.html
	}{
		"several pages share an entry": {files("/index.html", `<script type="module" src="a.js"></script>`,
			"/sub/b.html", `<script type="module" src="../a.js"></script>`, "/a.js", script),
			[]string{"/assets/a-HASH.js", "/index.html", "/sub/b.html"},
			`<script type="module" src="/assets/a-HASH.js"></script>`},
		"base": {files("/index.html", `<base href="/app/"><link rel=stylesheet href="a.css?v=1">`, "/app/a.css",
			"a{color:red}"),
			[]string{"/assets/a-HASH.css", "/index.html"}, `<link rel="stylesheet" href="/assets/a-HASH.css">`},
		"generated page": {files("/src/main.js", `import "./a.css"`, "/src/a.css", "a{color:red}"),
			[]string{"/assets/main-HASH.css", "/assets/main-HASH.js", "/index.html"},
			`<link rel="stylesheet" href="/assets/main-HASH.css"></head>`},
		"page in public without entry": {files("/src/index.js", script, "/public/index.html",
			`<link rel="icon" href="%PUBLIC_URL%/a.ico"><body></body>`),
			[]string{"/assets/index-HASH.js", "/index.html"},
			`<link rel="icon" href="/a.ico"><body><script type="module" src="/assets/index-HASH.js"></script></body>`},
		"site in public": {files("/public/index.html", `<p>`, "/public/a.js", script), []string{"/a.js", "/index.html"},
			`<p>`},
		"everything else stays": {files("/index.html",
			"<!DOCTYPE html>\r\n<!-- <script type=module src=a.js> --><P Class='x' >\xff&amp;<br/>"+
				`<style>a>b{}</style><script>"</p>"</script><SCRIPT SRC="https://x.example/a.js" type=module></SCRIPT><textarea><link rel=stylesheet href=a.css></textarea>`),
			[]string{"/index.html"}, "<!DOCTYPE html>\r\n<!-- <script type=module src=a.js> --><P Class='x' >\xff&amp;<br/>" +
				`<style>a>b{}</style><script>"</p>"</script><SCRIPT SRC="https://x.example/a.js" type=module></SCRIPT><textarea><link rel=stylesheet href=a.css></textarea>`},
		"inline module": {files("/index.html", "<p>\n<script type=module>\nimport './a.js'</script><p>", "/a.js", script),
			[]string{"/assets/index-HASH.js", "/index.html"},
			"<p>\n<script type=\"module\" src=\"/assets/index-HASH.js\"></script><p>"},
		"attributes": {files("/index.html",
			`<script type="module" crossorigin integrity="sha384-x" data-a="&quot;" src="a.js"></script>`, "/a.js", script),
			[]string{"/assets/a-HASH.js", "/index.html"},
			`<script crossorigin="" data-a="&#34;" type="module" src="/assets/a-HASH.js"></script>`},
		"TypeScript without a type": {files("/index.html", `<script src="a.ts"></script>`, "/a.ts", script),
			[]string{"/assets/a-HASH.js", "/index.html"}, `<script type="module" src="/assets/a-HASH.js"></script>`},
		"script in public": {files("/index.html", `<script type=module src="/a.js"></script>`, "/public/a.js", script),
			[]string{"/a.js", "/index.html"}, `<script type=module src="/a.js"></script>`},
		"missing style sheet": {files("/index.html", `<link rel=stylesheet href=a.css>`), []string{"/index.html"},
			`<link rel=stylesheet href=a.css>`},
		"styles of later scripts": {files("/index.html", `<head></head><script type=module src=a.js></script>`, "/a.js",
			`import("./b.js")`,
			"/b.js", `import "./b.css"; console.log(2)`, "/b.css", "b{color:red}"),
			[]string{"/assets/a-HASH.css", "/assets/a-HASH.js", "/assets/b-HASH.css", "/assets/b-HASH.js", "/index.html"},
			`<head><link rel="stylesheet" href="/assets/a-HASH.css"></head>`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.files["/package.json"] = []byte(appManifest)
			out := mustRun(t, sources{Files: c.files})
			wantPaths(t, out, c.want...)
			if page := hash.ReplaceAllString(out["/index.html"], "-HASH."); !strings.Contains(page, c.page) {
				t.Errorf("page:\n%s\nwant a part:\n%s", page, c.page)
			}
		})
	}
}

func TestCopiedFiles(t *testing.T) {
	t.Parallel()
	all := files("/package.json", `{"dependencies":{"react":"19"}}`, "/index.html", `<script type="module" src="/main.js"></script><script src="js/plain.js"></script><img src="/src/kept.png">`,
		"/main.js", `import a from "./img/a.png"; import "./src/b.png"; console.log(a)`)
	copied := []string{"/img/a.png", "/js/plain.js", "/data.json", "/favicon.ico", "/.well-known/x.txt", "/worker.js",
		"/sub/movie.mp4"}
	never := []string{"/.env", "/.env.local", "/.git/config", "/sub/.env", "/node_modules/p/index.js",
		"/package-lock.json", "/tsconfig.json", "/server.key", "/public/.env", "/public/package.json",
		"/public/_headers", "/_redirects"}
	tools := []string{"/README.md", "/a.test.js", "/x.ts", "/vite.config.js", "/sub/Dockerfile", "/sub/a.scss",
		"/main.go", "/docker-compose.yml"}
	for _, name := range slices.Concat(copied, never, tools) {
		all[name] = []byte("{}")
	}
	maps.Copy(all, files("/public/a/b.md", "public", "/data.txt", "root", "/public/data.txt", "public", "/src/b.png",
		"", "/src/kept.png", ""))
	out := mustRun(t, sources{Files: all})
	delete(out, "/js/plain.js")
	bundled := []string{"/a/b.md", "/assets/a-HASH.png", "/assets/main-HASH.js", "/data.txt",
		"/index.html", "/src/kept.png"}
	wantPaths(t, out, slices.Sorted(slices.Values(slices.DeleteFunc(slices.Concat(copied, bundled),
		func(name string) bool { return name == "/js/plain.js" || name == "/worker.js" })))...)
	if out["/data.txt"] != "public" {
		t.Error("the file in /public does not win")
	}
	all["/package.json"] = []byte("{}") // a static project publishes all files that may be published
	out = mustRun(t, sources{Files: all})
	wantPaths(t, out, slices.Sorted(slices.Values(slices.Concat(copied, tools, bundled, []string{"/main.js",
		"/src/b.png"})))...)
}

func TestFrameworks(t *testing.T) {
	t.Parallel()
	page := files("/index.html", "<p>")
	for setting, want := range map[string]string{"next": "Next.js", "NextJS ": "Next.js", "nuxt": "Vite and Vue instead",
		"sveltekit": "Vite and Svelte instead", "express": "Express", "go": "Go", "Cobol": "framework is set to cobol"} {
		wantFailure(t, sources{Files: page, Framework: setting}, failure.Error{Code: failure.FrameworkUnsupported,
			Message: want})
	}
	for _, setting := range []string{"", "static", "React", "vue", "Svelte"} {
		mustRun(t, sources{Files: page, Framework: setting})
	}
	for dependency, want := range map[string]string{"next": "Next.js", "nuxt": "Nuxt", "vue": "Vue 3 or later",
		"svelte": "Svelte 4 or later", "@sveltejs/kit": "SvelteKit", "@angular/core": "Angular", "astro": "Astro"} {
		in := files("/index.html", "<p>", "/src/App.vue", "", "/package.json", fmt.Sprintf(`{"devDependencies":{%q:"1"}}`, dependency))
		wantFailure(t, sources{Files: in, Framework: "react"},
			failure.Error{Code: failure.FrameworkUnsupported, Message: want, Path: "/package.json"})
	}
	vue := files("/index.html", "<p>", "/package.json", `{"dependencies":{"vue":"^2.7.0"}}`)
	mustRun(t, sources{Files: vue}) // all versions of Vue work without components
	several := files("/index.html", "<p>", "/A.vue", "", "/package.json", `{"dependencies":{"vue":"^2.7 || ^3"}}`)
	mustRun(t, sources{Files: several})
	vue["/vue.config.js"] = nil
	wantFailure(t, sources{Files: vue}, failure.Error{Code: failure.FrameworkUnsupported, Message: "Vue CLI",
		Path: "/vue.config.js"})
	server := files("/server.js", "", "/package.json", `{"dependencies":{"express":"5"}}`)
	wantFailure(t, sources{Files: server}, failure.Error{Code: failure.FrameworkUnsupported, Message: "needs a server",
		Path: "/package.json"})
	server["/index.html"] = []byte("<p>")
	mustRun(t, sources{Files: server})
	wantFailure(t, sources{Files: files("/main.go", "", "/go.mod", "")},
		failure.Error{Code: failure.FrameworkUnsupported, Message: "Go", Path: "/go.mod"})
}

func TestEntryNotFound(t *testing.T) {
	t.Parallel()
	wantFailure(t, sources{Files: files("/about.html", "<p>")}, failure.Error{Code: failure.EntryNotFound,
		Message: "Add /index.html"})
	wantFailure(t, sources{}, failure.Error{Code: failure.EntryNotFound, Message: "Add /index.html"})
	wantFailure(t, sources{Files: files("/index.html", "<p>\n<script type=module src=/src/main.jsx></script>")},
		failure.Error{Code: failure.EntryNotFound, Message: "/src/main.jsx", Path: "/index.html", Line: 2, Column: 1})
	wantFailure(t, sources{Files: files("/index.html", "<p>", "/public/index.html", "<p>")},
		failure.Error{Code: failure.BuildFailed, Message: "Delete one", Path: "/public/index.html"})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	tooLarge := func(part string) failure.Error {
		return failure.Error{Code: failure.OutputTooLarge, Message: part}
	}
	in := files("/index.html", "<p>")
	for i := range maxFiles - 1 {
		in[fmt.Sprintf("/%d.txt", i)] = nil
	}
	mustRun(t, sources{Files: in})
	in["/one-more.txt"] = nil
	wantFailure(t, sources{Files: in}, tooLarge("5001 files"))
	big := make([]byte, maxFileBytes+1)
	wantFailure(t, sources{Files: map[string][]byte{"/index.html": nil, "/big.bin": big}}, tooLarge("/big.bin"))
	in = map[string][]byte{"/index.html": []byte("<p>")}
	for i := range 4 {
		in[fmt.Sprintf("/%d.bin", i)] = big[1:]
	}
	wantFailure(t, sources{Files: in}, tooLarge("100 MiB"))
	for _, name := range []string{"/ping", "/sping"} {
		wantFailure(t, sources{Files: files("/index.html", "<p>", "/public"+name, "")},
			failure.Error{Code: failure.BuildFailed, Message: "reserved", Path: name})
	}
}
