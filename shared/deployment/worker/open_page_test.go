package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"devplatform/shared/site"
)

// visit returns the response of the project's site to a request for a path.
func (p *published) visit(h http.Handler, path string) *httptest.ResponseRecorder {
	p.f.T.Helper()
	address := p.Get("/api/projects/"+p.id+"/site").Want(p.f.T, http.StatusOK).Text("url")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(p.f.T.Context(), http.MethodGet, address+path, nil))
	return w
}

// A page that is open during three deployments gets the scripts that it has not loaded yet.
func TestOpenPage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	sites := site.New(site.Deps{
		DB: f.Client, Sites: f.Client.Table(f.sites), Projects: f.Projects, Bucket: f.bucket, Origin: origin,
		TrafficLimit: 1 << 40, Clock: f.Clock.Now,
		Logger: slog.New(f.Log), RequestID: func(context.Context) string { return "" },
	})
	p := f.newUser("ada").newProject(map[string]string{
		"/index.html": `<script type="module" src="/src/main.js"></script>`,
		"/src/main.js": `for (const load of [() => import("./a.js"), () => import("./b.js"), () => import("./c.js")])
			addEventListener("click", load)`,
	})
	deploy := func(n int) (id string) {
		t.Helper()
		for _, name := range []string{"a", "b", "c"} {
			p.save(map[string]string{"/src/" + name + ".js": fmt.Sprintf("document.title = 'chunk %s of %d'", name, n)})
		}
		d := p.deploy()
		if d.Text("status") != "ready" {
			t.Fatalf("got %s, want the deployment to be ready", d.Raw)
		}
		return d.Text("id")
	}
	first := deploy(1)
	chunks := map[string]string{} // paths by name
	for path := range p.live() {
		if name, _, ok := strings.Cut(strings.TrimPrefix(path, "/assets/"), "-"); ok {
			chunks[name] = path
		}
	}
	want := func(name string, status int) {
		t.Helper()
		w := p.visit(sites, chunks[name])
		if text := "chunk " + name + " of 1"; w.Code != status || status == 200 && !strings.Contains(w.Body.String(), text) {
			t.Errorf("%s: got %d %q, want %d", chunks[name], w.Code, w.Body, status)
		}
	}
	for n, name := range []string{"a", "b", "c"} {
		deploy(n + 2)
		want(name, http.StatusOK)
	}
	if p.visit(sites, "/").Header().Get("X-Deployment-Id") == first {
		t.Error("the site shows the first deployment, want the last one")
	}
	f.sweep(time.Minute)
	want("a", http.StatusOK)
	p.Do(http.MethodDelete, p.url(first), nil).Want(t, http.StatusOK)
	want("a", http.StatusNotFound)
	f.sweep(time.Minute)
	want("b", http.StatusNotFound)
}
