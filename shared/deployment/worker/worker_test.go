package worker_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/deployment"
	"devplatform/shared/site"
)

// A deployment stores the files of the project as objects, in the form in which the site serves them, and goes live.
func TestBuild(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	text, random := strings.Repeat("abc ", 1000), make([]byte, 2000)
	_, _ = rand.Read(random)
	p := f.newUser("ada").newProject(map[string]string{
		"/index.html":       `<!doctype html><script type="module" src="/src/main.ts"></script>`,
		"/src/main.ts":      `document.title = "bundled"`,
		"/public/same.txt":  text,
		"/public/same.png":  text, // the same content in an object that is not compressed
		"/public/copy.txt":  text,
		"/public/small.txt": text[:511],
		"/public/dense.txt": string(random),
		"/public/logo.svg":  "<svg>" + text + "</svg>",
		"/public/empty.txt": "",
	})
	d := p.deploy()
	if d.Text("status") != "ready" || d.Body["live"] != true || d.Body["error"] != nil {
		t.Fatalf("got %s, want the deployment to be ready and live", d.Raw)
	}
	live := p.live()
	if len(live) != 9 || !strings.Contains(live["/index.html"], "<script") || float64(len(live)) != d.Body["files"] {
		t.Errorf("got the files %q, want 9", live)
	}
	size, got := 0, []string{}
	for _, a := range p.addresses() {
		if !a.Production {
			if names := site.HashedPathsOf(f.manifest(a)); len(names) == 0 || !slices.Equal(names, a.HashedPaths) {
				t.Errorf("got the names %v of hashed files, want %v", a.HashedPaths, names)
			}
			continue
		}
		for path, entry := range f.manifest(a).Files {
			size += entry.Size
			if entry.Hashed {
				path = "script"
			}
			got = append(got, fmt.Sprintf("%s %s %v", path, entry.ContentType, entry.Gzip))
		}
	}
	slices.Sort(got)
	want := []string{
		"/copy.txt text/plain; charset=utf-8 true", "/dense.txt text/plain false",
		"/empty.txt text/plain; charset=utf-8 false", "/index.html text/html; charset=utf-8 false",
		"/logo.svg image/svg+xml true", "/same.png image/png false",
		"/same.txt text/plain; charset=utf-8 true",
		"/small.txt text/plain; charset=utf-8 false", "script text/javascript; charset=utf-8 false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("manifest: mismatch (-want +got):\n%s", diff)
	}
	if d.Body["bytes"] != float64(size) {
		t.Errorf("got %v bytes, want the %d of the manifest", d.Body["bytes"], size)
	}
	if n := len(f.objects(d.Text("id"))); n != 9 { // 8 different files, because two are the same, and the manifest
		t.Errorf("got %d objects, want 9", n)
	}
	log := p.logOf(d.Text("id"))
	if len(log) != 2 || !strings.HasPrefix(log[0], "info Read 9 files of the project, ") ||
		log[1] != fmt.Sprintf("info Built 9 files, %d bytes.", size) {
		t.Errorf("got the log %q, want two lines", log)
	}
	if !strings.Contains(f.Log.String(), "a deployment ended") {
		t.Error("the function's log does not say that the deployment ended")
	}
}

// A build with an error ends the deployment with the place of the error, and one event.
func TestFailedBuild(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(map[string]string{
		"/index.html":  `<!doctype html><script type="module" src="/src/main.ts"></script>`,
		"/src/main.ts": "let a = 1\nlet a = 2\n",
	})
	d := p.deploy()
	id := d.Text("id")
	if got := failure(d); d.Text("status") != "failed" || !strings.HasPrefix(got, "BUILD_FAILED /src/main.ts:2:") {
		t.Errorf("got %s, want BUILD_FAILED in line 2 of /src/main.ts", d.Raw)
	}
	lines := p.Get(p.url(id, "/log")).Want(t, http.StatusOK).List("lines")
	last := lines[len(lines)-1]
	if last["level"] != "error" || last["path"] != "/src/main.ts" || last["line"] != 2.0 || last["text"] == "" {
		t.Errorf("got the last line %v, want the error", last)
	}
	if got, want := f.events(id), []string{"deployment.completed failed"}; !slices.Equal(got, want) {
		t.Errorf("got the events %q, want %q", got, want)
	}
	if len(p.addresses()) > 0 || d.Body["live"] != false {
		t.Errorf("got %s and the addresses %v, want none", d.Raw, p.addresses())
	}
	p.Do(http.MethodPost, p.url(id, "/promote"), nil).Want(t, http.StatusConflict)
	p.save(small("Fixed"))
	if d := p.deploy(); d.Text("status") != "ready" {
		t.Errorf("got %s after the error was fixed, want ready", d.Raw)
	}
}

// A panic of the bundler fails the deployment at once: the next attempt would panic, too.
func TestProgramFails(t *testing.T) {
	t.Parallel()
	d := newFixture(t).newUser("ada").newProject(map[string]string{
		"/index.html": `<script type="module" src="/main.js"></script>`,
		// The bundler looks for a similar name, and panics because this one is half of a surrogate pair.
		"/main.js": `import * as b from "./b.js"; console.log(b["\ud800"])`, "/b.js": "export let a = 1",
	}).deploy()
	if got := failure(d); d.Text("status") != "failed" || !strings.Contains(got, "an error in this service") {
		t.Errorf("got %s, want a failed deployment", d.Raw)
	}
}

// through returns a worker whose calls go through a function.
func (f *fixture) through(do func(r *http.Request) (*http.Response, error)) *clients {
	return f.process(slicetest.DoFunc(do))
}

// isUpload reports whether a request stores an object.
func isUpload(r *http.Request) bool {
	return r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/sites/")
}

// A build that takes too long fails. The objects that it has stored are removed.
func TestTimeout(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(small("Hello"))
	id, uploads := p.request(), make(chan bool, 1)
	uploads <- true
	slow := f.through(func(r *http.Request) (*http.Response, error) {
		if isUpload(r) {
			select {
			case <-uploads: // the first one succeeds
			default:
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
		}
		return slicetest.Transfers.Do(r)
	})
	slow.builder.SetBuildTime(time.Second)
	if errs := f.work(slow); errs[0] != nil {
		t.Errorf("the message was not handled: %v", errs[0])
	}
	if got := failure(p.Get(p.url(id))); !strings.HasPrefix(got, "BUILD_TIMEOUT ") {
		t.Errorf("got the error %q, want BUILD_TIMEOUT", got)
	}
	if got, want := f.events(id), []string{"deployment.completed failed"}; !slices.Equal(got, want) {
		t.Errorf("got the events %q, want %q", got, want)
	}
	if len(f.objects(id)) == 0 {
		t.Error("the build stored no object")
	}
	f.sweep(time.Minute)
	if keys := f.objects(id); len(keys) > 0 {
		t.Errorf("the objects %v remain", keys)
	}
	if d := p.record(id); d.Status != deployment.Failed || p.job(id).ID != "" {
		t.Errorf("got the record %+v, want it to be failed and not due", d)
	}
}

// A build that computes without end is stopped, and fails.
func TestEndlessBuild(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.builder.SetBuildTime(3 * time.Second)
	files := map[string]string{"/index.html": `<script type="module" src="/m0.js"></script>`}
	for i := range 14 { // each file exports what all others export
		for j := range 14 {
			files[fmt.Sprintf("/m%d.js", i)] += fmt.Sprintf("export * from './m%d.js';", j)
		}
	}
	if got := failure(f.newUser("ada").newProject(files).deploy()); !strings.HasPrefix(got, "BUILD_TIMEOUT ") {
		t.Errorf("got the error %q, want BUILD_TIMEOUT", got)
	}
}

// If the account has no space for the output, the deployment fails, and its objects are removed.
func TestNoSpaceForOutput(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	live, p := ada.newProject(small("Hello")), ada.newProject(small("Hello"))
	d := live.deploy()
	f.builder.Store.MaxOutput = int(d.Body["bytes"].(float64)) + 1
	d = p.deploy()
	if got := failure(d); !strings.HasPrefix(got, "OUTPUT_TOO_LARGE ") {
		t.Errorf("got the error %q, want OUTPUT_TOO_LARGE", got)
	}
	log := p.logOf(d.Text("id"))
	if last := log[len(log)-1]; !strings.HasPrefix(last, "error With this output, ") {
		t.Errorf("got the log %q, want the error at its end", log)
	}
	if f.sweep(0); len(f.objects(d.Text("id"))) > 0 {
		t.Error("the objects of the failed deployment remain")
	}
	live.Do(http.MethodDelete, "/api/projects/"+live.id, nil).Want(t, http.StatusOK)
	if d := p.deploy(); d.Text("status") != "ready" {
		t.Errorf("got %s after the other project was deleted, want ready", d.Raw)
	}
}
