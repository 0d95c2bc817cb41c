package worker_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"devplatform/shared/deployment"
)

// deployTo deploys the project with a target. It returns the deployment, and all files of its output in one text.
func (p *published) deployTo(target deployment.Target) (id, output string) {
	p.f.T.Helper()
	id = p.requestTo(target)
	p.f.handleAll()
	for _, a := range p.addresses() {
		if a.DeploymentID == id {
			for path, data := range p.f.output(a) {
				output += path + "\n" + data + "\n"
			}
			return id, output
		}
	}
	p.f.T.Fatalf("the deployment is not ready: %s", p.Get(p.url(id)).Raw)
	return "", ""
}

// A build uses the variables for the target of its deployment instead of those in .env files. No output contains the
// value for another target, and no log contains a value.
func TestVariables(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(map[string]string{
		"/.env":        "VITE_A=a of the file\nVITE_B=b of the file\nVITE_C=$VITE_B, expanded\n",
		"/index.html":  `<!doctype html><title>%VITE_A%</title><script type="module" src="/src/main.ts"></script>`,
		"/src/main.ts": "document.title = JSON.stringify(import.meta.env) + process.env.REACT_APP_D",
	})
	set := func(variables ...object) {
		t.Helper()
		variables = append([]object{}, variables...) // not null
		p.Do(http.MethodPut, "/api/projects/"+p.id+"/variables", object{"variables": variables}).Want(t, http.StatusOK)
	}
	set(
		object{"name": "VITE_A", "value": "a of all", "target": "all"},
		object{"name": "VITE_A", "value": "a of previews", "target": "preview"},
		object{"name": "VITE_B", "value": "b of production, $HOME", "target": "production"},
		object{"name": "REACT_APP_D", "value": "d of all", "target": "all"},
	)
	check := func(output string, want, never []string) {
		t.Helper()
		for _, text := range want {
			if !strings.Contains(output, text) {
				t.Errorf("the output does not have %q:\n%s", text, output)
			}
		}
		for _, text := range never {
			if strings.Contains(output, text) {
				t.Errorf("the output has %q:\n%s", text, output)
			}
		}
	}
	production, output := p.deployTo(deployment.Production)
	check(output,
		[]string{"<title>a of all</title>", "b of production, $HOME", "b of production, $HOME, expanded", "d of all"},
		[]string{"a of previews", "of the file"})
	preview, output := p.deployTo(deployment.Preview)
	check(output, []string{"<title>a of previews</title>", "b of the file", "d of all"},
		[]string{"a of all", "of production"})
	set()
	_, output = p.deployTo(deployment.Production)
	check(output, []string{"<title>a of the file</title>", "b of the file"},
		[]string{"of all", "of production", "of previews"})
	for _, id := range []string{production, preview} {
		if log := strings.Join(p.logOf(id), "\n"); strings.Contains(log, "a of") || strings.Contains(log, "b of") {
			t.Errorf("the log of the deployment has a value:\n%s", log)
		}
	}
	if strings.Contains(f.Log.String(), "of production") {
		t.Error("the log of the function has a value")
	}
}

// A build with a root folder sees only its files. A folder without files is an error that says what to change.
func TestRootDir(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(map[string]string{
		"/index.html":            "<!doctype html>the root",
		"/.env":                  "VITE_A=a of the root\n",
		"/apps/site/index.html":  `<!doctype html>the site %VITE_A% <script type="module" src="main.js"></script>`,
		"/apps/site/main.js":     "document.title = 'the script'",
		"/apps/site/.env":        "VITE_A=a of the folder\n",
		"/apps/site2/index.html": "<!doctype html>another site",
	})
	set := func(dir string) {
		t.Helper()
		p.Do(http.MethodPut, "/api/projects/"+p.id, object{"rootDir": dir}).Want(t, http.StatusOK)
	}
	set("/apps/site")
	_, output := p.deployTo(deployment.Production)
	if !strings.Contains(output, "the site a of the folder") || !strings.Contains(output, "the script") ||
		strings.Contains(output, "the root") || strings.Contains(output, "another") {
		t.Errorf("got the output\n%s\nwant only the folder", output)
	}
	for _, dir := range []string{"/apps/sit", "/missing", "/index.html"} {
		set(dir)
		d := p.deploy()
		if got := failure(d); !strings.HasPrefix(got, "ENTRY_NOT_FOUND ") || !strings.Contains(got, "no files in "+dir+",") {
			t.Errorf("%s: got the error %q, want ENTRY_NOT_FOUND with the folder", dir, got)
		}
	}
	set("/")
	if _, output = p.deployTo(deployment.Production); !strings.Contains(output, "the root") {
		t.Errorf("got the output\n%s\nwant the root", output)
	}
}

// A warning about a file has the path of the file in the project, also if only a folder of the project is built, and
// the line.
func TestWarnings(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(map[string]string{
		"/web/index.html":     `<!doctype html><script type="module" src="/main.js"></script>`,
		"/web/main.js":        "console.log(1)\nif (typeof x === 'nul') { y() }",
		"/web/vite.config.js": "export default {\n  base: '/sub/',\n}",
		"/web/id_rsa":         "a key",
	})
	lines := p.Get(p.url(p.deploy().Text("id"), "/log")).Want(t, http.StatusOK).List("lines")
	for _, want := range []string{
		"/web/vite.config.js 2 /web/vite.config.js:2: base is",
		"/web/main.js 2 /web/main.js:2:",
		"/web/id_rsa <nil> /web/id_rsa: The file was not published",
	} {
		if !slices.ContainsFunc(lines, func(line map[string]any) bool {
			return strings.HasPrefix(fmt.Sprint(line["path"], " ", line["line"], " ", line["text"]), want)
		}) {
			t.Errorf("no line %q in %v", want, lines)
		}
	}
}
