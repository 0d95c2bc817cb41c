package npm_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
	_, _, err := installer.Install(t.Context(), project(`{"dependencies":{"p0":"1"}}`, ""))
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

// TestPackages checks packages with a correct hash that contain dangerous files.
func TestHostilePackages(t *testing.T) {
	t.Parallel()
	file := func(name string) []byte {
		return tarball(tarEntry{name: "package/ok.js"}, tarEntry{name: name, data: "x"})
	}
	for name, tc := range map[string]struct {
		tarball []byte
		code    failure.Code
		message string
	}{
		"a parent folder": {
			file("package/../../../etc/passwd"), failure.BuildFailed, "a@1.0.0 has a file with an unsafe path",
		},
		"a path above":        {file("../x.js"), failure.BuildFailed, "unsafe path"},
		"inside, but unusual": {file("package/lib/../x.js"), failure.BuildFailed, "unsafe path"},
		"an absolute path":    {file("/package/x.js"), failure.BuildFailed, "unsafe path"},
		"a backslash":         {file(`package/..\x.js`), failure.BuildFailed, "unsafe path"},
		"a long path": {
			file("package/" + strings.Repeat("a/", 1000) + "x.js"), failure.BuildFailed, "unsafe path",
		},
		"not gzip": {[]byte("text"), failure.BuildFailed, "a@1.0.0 is damaged"},
		"not tar": {
			gzipped([]byte(strings.Repeat("text", 1000))), failure.BuildFailed, "a@1.0.0 is damaged",
		},
		"a size that is not true": {lyingTarball(50 << 20), failure.BuildFailed, "a@1.0.0 is damaged"},
		"a huge size":             {lyingTarball(1 << 40), failure.DependencyTooLarge, "more than 100 MiB"},
		"a bomb":                  {bomb(101<<20, "package/zeros.js"), failure.DependencyTooLarge, "more than 100 MiB"},
		"a bomb that is skipped":  {bomb(513<<20, "package/zeros.md"), failure.DependencyTooLarge, "a@1.0.0 is too large"},
		"many files":              {manyFiles(100_001), failure.DependencyTooLarge, "100000 files"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setUp(t)
			f.registry.publishTarball("a", "1.0.0", fields{}, tc.tarball)
			_, _, err := f.install(t, `"a":"1"`, "")
			wantFailure(t, err, tc.code, tc.message)
		})
	}
}

// Links and devices are ignored, as npm does.
func TestLinks(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publishTarball("a", "1.0.0", fields{}, tarball(
		tarEntry{name: "package/", kind: tar.TypeDir},
		tarEntry{name: "package/secret.js", kind: tar.TypeSymlink, data: "/etc/passwd"},
		tarEntry{name: "package/other.js", kind: tar.TypeLink, data: "package/index.js"},
		tarEntry{name: "package/fifo", kind: tar.TypeFifo},
		tarEntry{name: "package/null", kind: tar.TypeChar},
		tarEntry{name: "top.js", data: "not in a folder"},
		tarEntry{name: "package/index.js", data: "first"},
		tarEntry{name: "other/./index.js", data: "last"},
	))
	files, _, err := f.install(t, `"a":"1"`, "")
	if err != nil {
		t.Fatal(err)
	}
	want(t, files, "/node_modules/a/index.js")
	if got := string(files["/node_modules/a/index.js"]); got != "last" {
		t.Errorf("got %q, want the last file with that path", got)
	}
}

func gzipped(data []byte) []byte {
	var buffer bytes.Buffer
	w := gzip.NewWriter(&buffer)
	_, _ = w.Write(data)
	_ = w.Close()
	return buffer.Bytes()
}

// lyingTarball returns a tarball with one small file that claims to be large.
func lyingTarball(size int64) []byte {
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	_ = w.WriteHeader(&tar.Header{Name: "package/index.js", Size: size, Mode: 0o644})
	_, _ = w.Write([]byte("small"))
	return gzipped(buffer.Bytes())
}

// bomb returns a tarball with a file of zeros. It consists of many gzip streams, of which all but the first are equal.
func bomb(size int64, name string) []byte {
	var header bytes.Buffer
	_ = tar.NewWriter(&header).WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o644})
	zeros := gzipped(make([]byte, 1<<20))
	return append(gzipped(header.Bytes()), bytes.Repeat(zeros, int(size>>20)+1)...)
}

func manyFiles(n int) []byte {
	entries := make([]tarEntry, n)
	for i := range entries {
		entries[i].name = fmt.Sprintf("package/%d.js", i)
	}
	return tarball(entries...)
}

// The limits apply to all packages together, also if they come from the cache.
func TestLimits(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for i := range 4 {
		f.registry.publishTarball(fmt.Sprintf("p%d", i), "1.0.0", fields{}, bomb(30<<20, "package/zeros.js"))
	}
	for range 2 {
		_, _, err := f.install(t, `"p0":"1","p1":"1","p2":"1","p3":"1"`, "")
		wantFailure(t, err, failure.DependencyTooLarge, "more than 100 MiB")
		_, report, err := f.install(t, `"p0":"1","p1":"1","p2":"1"`, "")
		if report.Bytes != 90<<20 || err != nil {
			t.Fatalf("got %d bytes, error %v, want 90 MiB", report.Bytes, err)
		}
		if _, _, err = f.install(t, `"p3":"1"`, ""); err != nil { // now all are in the cache
			t.Fatal(err)
		}
	}
	// A package that is installed twice counts twice.
	integrity := sha512Of(f.registry.tarballs["/p0/-/p0-1.0.0.tgz"])
	var packages, dependencies []string
	for i := range 4 {
		packages = append(packages, entry(fmt.Sprintf("node_modules/x%d", i), "1.0.0", integrity, `,"name":"p0"`))
		dependencies = append(dependencies, fmt.Sprintf(`"x%d":"npm:p0@1"`, i))
	}
	_, _, err := f.install(t, strings.Join(dependencies, ","), lockOf(packages...))
	wantFailure(t, err, failure.DependencyTooLarge, "more than 100 MiB")
}

func TestTooManyPackages(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	var dependencies, packages []string
	for i := range 501 {
		name := fmt.Sprintf("p%d", i)
		integrity := f.registry.publish(name, "1.0.0", nil, nil)
		dependencies = append(dependencies, fmt.Sprintf(`%q:"1"`, name))
		packages = append(packages, entry("node_modules/"+name, "1.0.0", integrity, ""))
	}
	for name, lock := range map[string]string{"resolved": "", "locked": lockOf(packages...)} {
		_, _, err := f.install(t, strings.Join(dependencies, ","), lock)
		wantFailure(t, err, failure.DependencyTooLarge, "more than 500 packages")
		_, report, err := f.install(t, strings.Join(dependencies[:500], ","), lock)
		if report.Packages != 500 || err != nil {
			t.Errorf("%s: got %+v, error %v, want 500 packages", name, report, err)
		}
	}
	// A registry that makes up a new package with each document.
	endless := setUp(t)
	var n atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first := n.Add(2)
		_, _ = fmt.Fprintf(w, `{"versions":{"1.0.0":{"dependencies":{"x%d":"*","x%d":"*"}}}}`, first, first+1)
	}))
	t.Cleanup(server.Close)
	endless.deps.Registry = server.URL
	_, _, err := endless.install(t, `"x0":"*"`, "")
	wantFailure(t, err, failure.DependencyTooLarge, "more than 500 packages")
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
