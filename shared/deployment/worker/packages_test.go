package worker_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"devplatform/shared/deployment/npm"
)

// The log of a deployment says which files and settings of the packages are ignored.
func TestIgnoredLockFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	registry := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(registry.Close)
	f.builder.Packages = npm.New(npm.Deps{
		Registry: registry.URL, AllowPrivate: true, Bucket: f.bucket, Clock: f.Clock.Now,
	})
	p := f.newUser("ada").newProject(map[string]string{
		"/index.html": "<!doctype html>", "/yarn.lock": "# yarn",
		"/package.json": `{"optionalDependencies":{"a":"1"}}`,
	})
	d := p.deploy()
	const want = "warning yarn.lock is ignored. The versions of the packages can differ from the versions in the file. " +
		"Run npm install, and add the package-lock.json that it writes."
	if log := p.logOf(d.Text("id")); d.Text("status") != "ready" || !slices.Contains(log, want) {
		t.Errorf("got %s and the log %q, want %q", d.Raw, log, want)
	}
}

// A message about a long text of the project is cut, so that it can be stored.
func TestLongMessage(t *testing.T) {
	t.Parallel()
	p := newFixture(t).newUser("ada").newProject(map[string]string{
		"/index.html": "<!doctype html>", "/package.json": `{"dependencies":{"` + strings.Repeat("é", 250_000) + `":5}}`,
	})
	got := failure(p.deploy())
	const want = "BUILD_FAILED /package.json:1:250021 The value of /dependencies/éé"
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "é") || len(got) > 5000 {
		t.Errorf("got the error %.200s with %d bytes, want %s and at most 5000", got, len(got), want)
	}
}
