package npm_test

import (
	"net/http"
	"strings"
	"testing"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/npm"
)

// TestCredentials installs from a registry whose URL has a user and a password.
func TestCredentials(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", nil, nil)
	f.registry.allow("user", "p@ss:word")
	in := project(`{"dependencies":{"a":"1"}}`, "")
	url := f.deps.Registry
	f.deps.Registry = strings.Replace(url, "http://", "http://user:p%40ss:word@", 1)
	files, _, err := installInto(t, npm.New(f.deps), in)
	if err != nil || files["/node_modules/a/package.json"] == nil {
		t.Errorf("got error %v, %d files", err, len(files))
	}
	for _, registry := range []string{url, strings.Replace(url, "http://", "http://user:secret-7@", 1)} {
		f.deps.Registry = registry
		_, _, err := installInto(t, npm.New(f.deps), in)
		got := wantFailure(t, err, failure.DependencyNotFound, "check the user and the password in NPM_REGISTRY")
		if strings.Contains(got.Message+f.log.String(), "secret-7") {
			t.Errorf("the password is in %s%s", got.Message, f.log)
		}
	}
}

// TestRefusedPackages installs packages to which a registry refuses access.
func TestRefusedPackages(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", fields{"optionalDependencies": fields{"b": "1"}}, nil)
	refuse := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	f.registry.on["/b"] = refuse(http.StatusForbidden)
	files, _, err := f.install(t, `"a":"1"`, "")
	if err != nil {
		t.Fatal(err)
	}
	want(t, files, "/node_modules/a/package.json")
	_, _, err = f.install(t, `"b":"1"`, "")
	wantFailure(t, err, failure.DependencyNotFound, "The package b cannot be downloaded: the npm registry refused access")
	f.registry.publish("c", "1.0.0", nil, nil)
	f.registry.on["/c/-/c-1.0.0.tgz"] = refuse(http.StatusUnauthorized)
	_, _, err = f.install(t, `"c":"1"`, "")
	wantFailure(t, err, failure.DependencyNotFound, "c@1.0.0 cannot be downloaded: the npm registry refused access")
	if n := f.registry.count("/c/-/c-1.0.0.tgz"); n != 1 {
		t.Errorf("%d requests, want no repetition", n)
	}
}
