package build

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// appManifest is a package.json that makes a project an app.
const appManifest = `{"devDependencies":{"vite":"7"}}`

// An app does not publish its secrets. In the folder public, only the files that keyFiles matches are secrets.
func TestSecretsStayUnpublished(t *testing.T) {
	t.Parallel()
	all := files("/index.html", `<p><a href="/linked.key">`, "/linked.key", "")
	secrets := []string{"/linked.key", "/id_rsa.pub"}
	public := []string{"/index.html", "/keys.json", "/monkey", "/settings.json"}
	for name := range strings.FieldsSeq(`credentials credentials.json service-account.json service-account-prod.json
		serviceAccountKey.json my-app-firebase-adminsdk-x1.json appsettings.json appsettings.Production.json
		application.properties application-prod.properties terraform.tfstate terraform.tfstate.backup prod.tfvars AuthKey.p8
		AuthKey_ABC.p8 id_rsa id_dsa id_ecdsa id_ed25519 a.ppk a.kdbx a.ovpn a.pem a.key a.sql a.sql.gz a.dump a.dump.zip
		a.bak index.html.bak a.bak.gz web.config Secrets.JSON`) {
		for _, folder := range []string{"/", "/sub/", "/public/p/"} {
			all[folder+name] = []byte("{}")
			if folder != "/public/p/" || keyFiles.MatchString("/"+name) {
				secrets = append(secrets, folder+name)
			} else {
				public = append(public, "/p/"+name)
			}
		}
	}
	for _, name := range []string{"/keys.json", "/monkey", "/public/settings.json", "/id_rsa.pub"} {
		all[name] = []byte("{}")
	}
	all["/package.json"] = []byte(appManifest)
	out, err := run(t, sources{Files: all})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range out.Files {
		paths = append(paths, f.Path)
	}
	slices.Sort(public)
	if !slices.Equal(paths, public) {
		t.Errorf("published %v, want %v", paths, public)
	}
	for _, name := range secrets {
		if !slices.ContainsFunc(out.Warnings, func(w string) bool {
			return strings.HasPrefix(w, name+": The file was not published")
		}) {
			t.Errorf("no warning of %s in %d warnings", name, len(out.Warnings))
		}
	}
}

// A static project publishes all its files. An app does not publish the files that it bundles.
func TestStaticProjectKeepsItsFiles(t *testing.T) {
	t.Parallel()
	in := files("/index.html", `<link rel=stylesheet href=css/light.css><script type=module src=js/app.js></script>`,
		"/css/light.css", "a{color:red}", "/js/app.js", `import "./lib.js"`, "/js/lib.js", "console.log(1)",
		"/posts/first.md", "# First", "/data/items.toml", "a = 1", "/data/site.config.json", "{}", "/data/demo.sqlite", "S",
		"/hello.py", "print(1)", "/sw.js", `caches.open("a").then(c => c.addAll(["/css/light.css", "/js/lib.js"]))`)
	out := mustRun(t, sources{Files: in})
	for name := range in {
		if name == "/index.html" {
			continue
		}
		if out[name] != string(in[name]) {
			t.Errorf("%s is missing or changed", name)
		}
	}
	in["/package.json"] = []byte(appManifest)
	out = mustRun(t, sources{Files: in})
	for _, name := range []string{"/css/light.css", "/js/app.js", "/js/lib.js"} {
		if _, ok := out[name]; ok {
			t.Errorf("%s of an app is published", name)
		}
	}
}

// The scopes of an import map depend on the paths of the scripts that import, so the scripts stay where they are.
func TestScopesOfImportMap(t *testing.T) {
	t.Parallel()
	const page = `<script type=importmap>{"imports":{"a":"/a.js"},"scopes":{"/old/":{"a":"/old/a.js"}}}</script>
		<script type=module>import "a"</script><script type=module src=/old/main.js></script>`
	in := files("/index.html", page, "/old/main.js", `import "a"`, "/old/a.js", "", "/a.js", "")
	out := mustRun(t, sources{Files: in})
	wantPaths(t, out, slices.Sorted(maps.Keys(in))...)
	if out["/index.html"] != page {
		t.Errorf("got the page %s", out["/index.html"])
	}
	in["/old/main.ts"] = []byte(`import "a"; let x: number`)
	in["/index.html"] = []byte(page + `<script type=module src=/old/main.ts></script>`)
	if got := mustRun(t, sources{Files: in})["/index.html"]; strings.Contains(got, "main.ts") {
		t.Errorf("the script in TypeScript is not bundled: %s", got)
	}
}

// An app does not publish the documents of its project, such as README, unless they are pages or images.
func TestDocumentsOfProjects(t *testing.T) {
	t.Parallel()
	out := mustRun(t, sources{Files: files("/index.html", "", "/license.html", "", "/sub/changelog.html", "",
		"/readme.html", "", "/readme.png", "", "/README", "", "/LICENSE.txt", "", "/CHANGELOG.md", "", "/package.json",
		appManifest)})
	wantPaths(t, out, "/index.html", "/license.html", "/readme.html", "/readme.png", "/sub/changelog.html")
}

// The link that preloads a bundled module is removed.
func TestModulePreload(t *testing.T) {
	t.Parallel()
	out := mustRun(t, sources{Files: files("/index.html", `<head><link rel="modulepreload" href="/src/main.tsx"><link rel=preload href="/a.png"></head>`+
		`<link rel="ModulePreload" href="https://x.example/a.js"><link rel=modulepreload href="/b.js"><script type=module src="/src/main.tsx"></script>`,
		"/src/main.tsx", "console.log(1 as number)", "/a.png", "", "/public/b.js", "")})
	wantPaths(t, out, "/a.png", "/assets/main-HASH.js", "/b.js", "/index.html")
	if want := `<head><link rel=preload href="/a.png"></head><link rel="ModulePreload" href="https://x.example/a.js">` +
		`<link rel=modulepreload href="/b.js"><script`; !strings.HasPrefix(out["/index.html"], want) {
		t.Errorf("page %s, want %s", out["/index.html"], want)
	}
}

func TestCharset(t *testing.T) {
	t.Parallel()
	out, err := run(t, sources{Files: files("/index.html", "<meta charset=latin1>\xe9", "/a.css", "\xe9",
		"/b.txt", "é", "/public/.well-known/apple-app-site-association", "{}")})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"/index.html": "text/html", "/a.css": "text/css", "/b.txt": "text/plain; charset=utf-8",
		"/.well-known/apple-app-site-association": "application/json"}
	for _, f := range out.Files {
		if f.ContentType != want[f.Path] {
			t.Errorf("%s: %q, want %q", f.Path, f.ContentType, want[f.Path])
		}
	}
}
