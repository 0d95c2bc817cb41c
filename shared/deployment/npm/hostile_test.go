package npm_test

import (
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/npm"
)

const (
	documentPath = "/a"
	tarballPath  = "/a/-/a-1.0.0.tgz"
)

// TestHostileResponses checks that a registry that misbehaves leads to a clear error in a short time.
func TestHostileResponses(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	drip := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte(" "))
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "secret of the registry", code) }
	}
	body := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
	}
	endless := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			chunk := []byte(strings.Repeat(text, 1<<16/len(text)))
			for {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}
	}
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"versions":`))
		_ = http.NewResponseController(w).Flush() // otherwise net/http also repeats the request
		panic(http.ErrAbortHandler)
	}
	for name, tc := range map[string]struct {
		path     string
		reply    http.HandlerFunc
		code     failure.Code
		message  string
		requests int
	}{
		"a document that hangs": {
			documentPath, hang,
			failure.DependencyNotFound, "The package a cannot be downloaded: the npm registry did not respond in time", 1,
		},
		"a document that drips": {documentPath, drip, failure.DependencyNotFound, "did not respond in time", 1},
		"a document that is missing": {
			documentPath, status(404), failure.DependencyNotFound, "a@^1 is not in the npm registry", 1,
		},
		"a document that is secret": {
			documentPath, status(401), failure.DependencyNotFound, "the npm registry refused access", 1,
		},
		"a registry that fails": {
			documentPath, status(503), failure.DependencyNotFound, "the npm registry failed with status 503", 3,
		},
		"a registry that throttles": {
			documentPath, status(429), failure.DependencyNotFound, "the npm registry failed with status 429", 3,
		},
		"a connection that breaks": {
			documentPath, cut, failure.DependencyNotFound, "the connection to the npm registry failed", 3,
		},
		"a document that is not JSON": {
			documentPath, body("<html>"), failure.DependencyNotFound, "a document about a that cannot be read", 1,
		},
		"a document of another type": {
			documentPath, body(`{"versions":[]}`), failure.DependencyNotFound, "a document about a that cannot be read", 1,
		},
		"a document without versions": {
			documentPath, body(`{}`), failure.DependencyNotFound, "a@^1 is not in the npm registry", 1,
		},
		"a version of another type": {
			documentPath, body(`{"versions":{"1.0.0":[]}}`), failure.DependencyNotFound, "a@^1 is not in the npm registry", 1,
		},
		"a version without a hash": {
			documentPath, body(`{"versions":{"1.0.0":{}}}`), failure.DependencyNotFound, "a@1.0.0 has no valid SHA-512", 1,
		},
		"an endless document": {
			documentPath, endless(" "), failure.DependencyTooLarge, "The list of versions of a is too large", 1,
		},
		"an endless string": {documentPath, endless(`"`), failure.DependencyNotFound, "cannot be read", 1},
		"a deep document":   {documentPath, endless("["), failure.DependencyNotFound, "cannot be read", 1},
		"a deep version": {
			documentPath, body(`{"versions":{"1.0.0":` + strings.Repeat(`{"a":`, 100_000)),
			failure.DependencyNotFound, "cannot be read", 1,
		},
		"a tarball that hangs": {
			tarballPath, hang,
			failure.DependencyNotFound, "a@1.0.0 cannot be downloaded: the npm registry did not respond in time", 1,
		},
		"a tarball that drips": {tarballPath, drip, failure.DependencyNotFound, "a@1.0.0", 1},
		"a tarball that is missing": {
			tarballPath, status(404), failure.DependencyNotFound, "a@1.0.0 is not in the npm registry", 1,
		},
		"a tarball that fails": {
			tarballPath, status(500), failure.DependencyNotFound, "the npm registry failed with status 500", 3,
		},
		"a tarball that breaks": {
			tarballPath, cut, failure.DependencyNotFound, "the connection to the npm registry failed", 3,
		},
		"another tarball": {
			tarballPath, body(string(tarball(tarEntry{name: "package/x.js", data: "other"}))),
			failure.DependencyNotFound, "a@1.0.0 in the npm registry does not have the expected SHA-512", 1,
		},
		"a tarball that is no archive": {
			tarballPath, body("text"), failure.DependencyNotFound, "does not have the expected SHA-512", 1,
		},
		"an endless tarball": {
			tarballPath, endless("x"), failure.DependencyTooLarge, "The package a@1.0.0 is too large", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setUp(t)
			f.registry.publish("a", "1.0.0", nil, nil)
			f.registry.on[tc.path] = tc.reply
			timeout := patience
			if strings.HasSuffix(name, "hangs") || strings.HasSuffix(name, "drips") {
				timeout = time.Second
			}
			_, _, err := f.installWithin(t, timeout, `"a":"^1"`, "")
			if got := wantFailure(t, err, tc.code, tc.message); strings.Contains(got.Message, "secret") {
				t.Errorf("the message contains the response: %s", got.Message)
			}
			if n := f.registry.count(tc.path); n != tc.requests {
				t.Errorf("got %d requests, want %d", n, tc.requests)
			}
		})
	}
}

// A request is repeated after a failure that can be transient.
func TestRetries(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", nil, map[string]string{"index.js": strings.Repeat("a", 1000)})
	data := f.registry.tarballs[tarballPath]
	var n atomic.Int32
	f.registry.on[tarballPath] = func(w http.ResponseWriter, _ *http.Request) {
		switch n.Add(1) {
		case 1:
			w.WriteHeader(http.StatusBadGateway)
		case 2:
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			_, _ = w.Write(data[:len(data)-10])
		default:
			_, _ = w.Write(data)
		}
	}
	files, _, err := f.install(t, `"a":"1"`, "")
	if len(files) != 2 || err != nil || n.Load() != 3 {
		t.Errorf("got %d files, error %v after %d requests, want 2 files after 3 requests", len(files), err, n.Load())
	}
}

// A registry that is slow, but never slow enough for the limit of one request, is stopped by the limit of the whole
// installation.
func TestSlowRegistry(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for i := range 30 {
		name, next := fmt.Sprintf("p%d", i), fmt.Sprintf("p%d", i+1)
		f.registry.publish(name, "1.0.0", fields{"dependencies": fields{next: "*"}}, nil)
		document, _ := json.Marshal(f.registry.documents[name])
		f.registry.on["/"+name] = func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(300 * time.Millisecond)
			_, _ = w.Write(document)
		}
	}
	installer := npm.NewWithTimes(f.deps, time.Second, time.Minute)
	_, _, err := installInto(t, installer, project(`{"dependencies":{"p0":"1"}}`, ""))
	wantFailure(t, err, failure.DependencyNotFound, "not installed within")
	if n := f.registry.total(); n > 5 {
		t.Errorf("got %d requests within a second, want at most 5", n)
	}
}

// A registry cannot send requests to other servers.
func TestOtherOrigins(t *testing.T) {
	t.Parallel()
	elsewhere := newRegistry(t)
	integrity := elsewhere.publish("a", "1.0.0", nil, map[string]string{"index.js": "elsewhere"})

	f := setUp(t)
	f.registry.publish("a", "1.0.0", fields{
		"dist": fields{"tarball": elsewhere.server.URL + tarballPath, "integrity": integrity},
	}, nil)
	_, _, err := f.install(t, `"a":"1"`, "")
	wantFailure(t, err, failure.DependencyNotFound, "does not have the expected SHA-512") // of the registry's own tarball

	for path, target := range map[string]string{
		documentPath: elsewhere.server.URL + documentPath, tarballPath: "http://localhost" +
			elsewhere.server.URL[strings.LastIndexByte(elsewhere.server.URL, ':'):] + tarballPath,
	} {
		f := setUp(t)
		f.registry.publish("a", "1.0.0", nil, nil)
		f.registry.on[path] = func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, target, http.StatusFound)
		}
		_, _, err := f.install(t, `"a":"1"`, "")
		wantFailure(t, err, failure.DependencyNotFound, "redirected the request to another origin")
	}
	if n := elsewhere.total(); n != 0 {
		t.Errorf("the other server got %d requests, want none", n)
	}

	f = setUp(t)
	f.registry.publish("a", "1.0.0", nil, nil)
	f.registry.publish("b", "1.0.0", nil, nil)
	f.registry.on["/a"] = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/b", http.StatusFound) }
	if _, _, err := f.install(t, `"a":"1"`, ""); err != nil || f.registry.count("/b") != 1 {
		t.Errorf("redirect within the registry: got error %v and %d requests", err, f.registry.count("/b"))
	}
}

// TestGuard checks that a deployed Installer does not connect to private addresses, and uses https only.
func TestGuard(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	address := strings.TrimPrefix(server.URL, "https://")
	port := address[strings.LastIndexByte(address, ':'):]
	for registry, message := range map[string]string{
		"https://" + address:             "does not have a public address",
		"https://localhost" + port:       "does not have a public address",
		"https://[::ffff:7f00:1]" + port: "does not have a public address",
		"http://" + address:              "must set NPM_REGISTRY to an https URL",
		"registry.example.com":           "must set NPM_REGISTRY to an https URL",
		"file:///etc/passwd":             "must set NPM_REGISTRY to an https URL",
		"https://exa mple.com":           "must set NPM_REGISTRY to an https URL",
	} {
		f := setUp(t)
		f.deps.Registry, f.deps.AllowPrivate = registry, false
		_, _, err := f.install(t, `"a":"1"`, "")
		wantFailure(t, err, failure.DependencyNotFound, message)
		lock := lockOf(entry("node_modules/a", "1.0.0", sha512Of(nil), ""))
		_, _, err = f.install(t, `"a":"1"`, lock)
		wantFailure(t, err, failure.DependencyNotFound, message)
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("got %d requests, want none", n)
	}
}
