package build

import (
	"context"
	"slices"
	"strings"
	"testing"

	"devplatform/shared/deployment/failure"
)

func TestSecretsStayUnpublished(t *testing.T) {
	t.Parallel()
	all := files("/index.html", `<p><a href="/linked.key">`, "/linked.key", "")
	secrets := []string{"/linked.key"}
	for name := range strings.FieldsSeq(`credentials credentials.json service-account.json service-account-prod.json
		serviceAccountKey.json my-app-firebase-adminsdk-x1.json appsettings.json appsettings.Production.json
		application.properties application-prod.properties terraform.tfstate terraform.tfstate.backup prod.tfvars AuthKey.p8
		AuthKey_ABC.p8 id_rsa id_dsa id_ecdsa id_ed25519 a.ppk a.kdbx a.ovpn a.pem a.key a.sql a.sql.gz a.dump a.dump.zip
		a.bak index.html.bak a.bak.gz web.config Secrets.JSON`) {
		for _, folder := range []string{"/", "/sub/", "/public/p/"} {
			if folder == "/public/p/" || name != "a.sql" {
				all[folder+name] = []byte("{}")
				secrets = append(secrets, folder+name)
			}
		}
	}
	for _, name := range []string{"/keys.json", "/id_rsa.pub", "/monkey", "/public/settings.json"} {
		all[name] = []byte("{}")
	}
	out, err := Run(context.Background(), Input{Files: all})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range out.Files {
		paths = append(paths, f.Path)
	}
	want := []string{"/id_rsa.pub", "/index.html", "/keys.json", "/monkey", "/settings.json"}
	if !slices.Equal(paths, want) {
		t.Errorf("published %v, want %v", paths, want)
	}
	slices.Sort(secrets)
	for i, name := range secrets {
		if i >= maxWarnings {
			break
		}
		if i >= len(out.Warnings) || !strings.HasPrefix(out.Warnings[i], name+": The file was not published") {
			t.Fatalf("no warning of %s in %d warnings", name, len(out.Warnings))
		}
	}
	if len(out.Warnings) != min(len(secrets), maxWarnings) {
		t.Errorf("%d warnings, want %d", len(out.Warnings), len(secrets))
	}
}

func TestStaticProjectKeepsItsFiles(t *testing.T) {
	t.Parallel()
	in := files("/index.html", `<link rel=stylesheet href=css/light.css><script type=module src=js/app.js></script>`,
		"/css/light.css", "a{color:red}", "/js/app.js", `import "./lib.js"`, "/js/lib.js", "console.log(1)",
		"/sw.js", `caches.open("a").then(c => c.addAll(["/css/light.css", "/js/lib.js"]))`)
	out := mustRun(t, Input{Files: in})
	for _, name := range []string{"/css/light.css", "/js/app.js", "/js/lib.js", "/sw.js"} {
		if out[name] != string(in[name]) {
			t.Errorf("%s is missing or changed", name)
		}
	}
	in["/package.json"] = []byte(`{"devDependencies":{"vite":"7"}}`)
	out = mustRun(t, Input{Files: in})
	for _, name := range []string{"/css/light.css", "/js/app.js", "/js/lib.js"} {
		if _, ok := out[name]; ok {
			t.Errorf("%s of an app is published", name)
		}
	}
}

func TestDocumentsOfProjects(t *testing.T) {
	t.Parallel()
	out := mustRun(t, Input{Files: files("/index.html", "", "/license.html", "", "/sub/changelog.html", "",
		"/readme.html", "", "/readme.png", "", "/README", "", "/LICENSE.txt", "", "/CHANGELOG.md", "")})
	wantPaths(t, out, "/index.html", "/license.html", "/readme.html", "/readme.png", "/sub/changelog.html")
}

func TestModulePreload(t *testing.T) {
	t.Parallel()
	out := mustRun(t, Input{Files: files("/index.html", `<head><link rel="modulepreload" href="/src/main.tsx"><link rel=preload href="/a.png"></head>`+
		`<link rel="ModulePreload" href="https://x.example/a.js"><link rel=modulepreload href="/b.js"><script type=module src="/src/main.tsx"></script>`,
		"/src/main.tsx", "console.log(1 as number)", "/a.png", "", "/public/b.js", "")})
	wantPaths(t, out, "/a.png", "/assets/main-HASH.js", "/b.js", "/index.html")
	if want := `<head><link rel=preload href="/a.png"></head><link rel="ModulePreload" href="https://x.example/a.js">` +
		`<link rel=modulepreload href="/b.js"><script`; !strings.HasPrefix(out["/index.html"], want) {
		t.Errorf("page %s, want %s", out["/index.html"], want)
	}
}

func TestContentTypes(t *testing.T) {
	t.Parallel()
	out, err := Run(context.Background(), Input{Files: files("/index.html", "<meta charset=latin1>\xe9", "/a.css", "\xe9",
		"/b.txt", "é", "/public/.well-known/apple-app-site-association", "{}", "/public/a.ts", "let a: string",
		"/public/segment0.ts", "G\x40\x11\x10\xff", "/public/app.webmanifest", "{}", "/public/LICENSE", "MIT")})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"/index.html": "text/html", "/a.css": "text/css", "/b.txt": "text/plain; charset=utf-8",
		"/.well-known/apple-app-site-association": "application/json",
		"/a.ts": "text/typescript; charset=utf-8", "/segment0.ts": "video/mp2t",
		"/app.webmanifest": "application/manifest+json", "/LICENSE": "text/plain; charset=utf-8"}
	if len(out.Files) != len(want) {
		t.Errorf("got %d files, want %d", len(out.Files), len(want))
	}
	for _, f := range out.Files {
		if f.ContentType != want[f.Path] {
			t.Errorf("%s: %q, want %q", f.Path, f.ContentType, want[f.Path])
		}
	}
}

func TestEmptyTSConfig(t *testing.T) {
	t.Parallel()
	mustRun(t, withPage(files("/main.js", "", "/tsconfig.json", " \n"), nil))
}

func TestVueWithoutComponents(t *testing.T) {
	t.Parallel()
	in := files("/index.html", "<p>", "/package.json", `{"dependencies":{"vue":"3"}}`)
	mustRun(t, Input{Files: in})
	in["/src/App.vue"] = nil
	refused := failure.Error{Code: failure.FrameworkUnsupported, Message: "Vue", Path: "/package.json"}
	wantFailure(t, Input{Files: in}, refused)
	delete(in, "/src/App.vue")
	in["/vue.config.js"] = nil
	wantFailure(t, Input{Files: in}, refused)
}

func TestMissingAlias(t *testing.T) {
	t.Parallel()
	const hint = "If it is an alias, define it in compilerOptions.paths of tsconfig.json."
	in := withPage(files("/main.js", `import "@components/a"`, "/vite.config.ts", ""), nil)
	want := failure.Error{Code: failure.DependencyNotFound, Message: hint, Path: "/main.js", Line: 1, Column: 8}
	wantFailure(t, in, want)
	delete(in.Files, "/vite.config.ts")
	if _, err := Run(context.Background(), in); err == nil || strings.Contains(err.Error(), hint) {
		t.Errorf("got %v", err)
	}
}
