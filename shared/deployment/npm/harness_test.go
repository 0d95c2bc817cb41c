package npm_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"devplatform/infra/local/s3/s3test"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/npm"
	"devplatform/shared/deployment/tree"
	"devplatform/shared/objectstore"
)

// fakeRegistry is an npm registry whose packages and behaviour a test defines.
type fakeRegistry struct {
	server    *httptest.Server
	mu        sync.Mutex
	documents map[string]map[string]any   // by name
	tarballs  map[string][]byte           // by path
	on        map[string]http.HandlerFunc // handlers that replace the normal behaviour, by path
	requests  map[string]int              // by path
}

func newRegistry(t testing.TB) *fakeRegistry {
	t.Helper()
	r := &fakeRegistry{
		documents: map[string]map[string]any{}, tarballs: map[string][]byte{}, on: map[string]http.HandlerFunc{},
		requests: map[string]int{},
	}
	r.server = httptest.NewServer(r)
	t.Cleanup(func() {
		r.server.CloseClientConnections()
		r.server.Close()
	})
	return r
}

// allow makes the registry require a user and a password.
func (r *fakeRegistry) allow(user, password string) {
	next := r.server.Config.Handler
	r.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if u, p, _ := request.BasicAuth(); u != user || p != password {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, request)
	})
}

func (r *fakeRegistry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	path := request.URL.Path
	r.mu.Lock()
	r.requests[path]++
	handler, tarball, document := r.on[path], r.tarballs[path], r.documents[strings.TrimPrefix(path, "/")]
	r.mu.Unlock()
	switch {
	case handler != nil:
		handler(w, request)
	case tarball != nil:
		_, _ = w.Write(tarball)
	case document != nil:
		_ = json.MarshalWrite(w, document)
	default:
		http.NotFound(w, request)
	}
}

// count returns the number of requests for a path.
func (r *fakeRegistry) count(path string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests[path]
}

// total returns the number of all requests.
func (r *fakeRegistry) total() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, count := range r.requests {
		n += count
	}
	return n
}

type fields map[string]any

// publish adds a version of a package. The latest published version has the tag latest.
func (r *fakeRegistry) publish(name, version string, extra fields, files map[string]string) (integrity string) {
	manifest := fields{"name": name, "version": version}
	for key, value := range extra {
		manifest[key] = value
	}
	packageJSON, _ := json.Marshal(manifest)
	entries := []tarEntry{{name: "package/package.json", data: string(packageJSON)}}
	for path, data := range files {
		entries = append(entries, tarEntry{name: "package/" + path, data: data})
	}
	return r.publishTarball(name, version, manifest, tarball(entries...))
}

func (r *fakeRegistry) publishTarball(name, version string, manifest fields, data []byte) (integrity string) {
	path := "/" + name + "/-/" + name[strings.LastIndexByte(name, '/')+1:] + "-" + version + ".tgz"
	integrity = sha512Of(data)
	if manifest["dist"] == nil {
		manifest["dist"] = fields{"tarball": r.server.URL + path, "integrity": integrity}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tarballs[path] = data
	d := r.documents[name]
	if d == nil {
		d = map[string]any{"name": name, "versions": fields{}}
		r.documents[name] = d
	}
	d["dist-tags"] = fields{"latest": version}
	d["versions"].(fields)[version] = manifest
	return integrity
}

func sha512Of(data []byte) string {
	sum := sha512.Sum512(data)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

type tarEntry struct {
	name, data string
	kind       byte // 0: a regular file
}

func tarball(entries ...tarEntry) []byte {
	var buffer bytes.Buffer
	zipped := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(zipped)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.data)), Typeflag: tar.TypeReg}
		if e.kind != 0 {
			header.Typeflag, header.Size, header.Linkname = e.kind, 0, e.data
		}
		if err := archive.WriteHeader(header); err != nil {
			panic(err)
		}
		if e.kind == 0 {
			_, _ = archive.Write([]byte(e.data))
		}
	}
	_ = archive.Close()
	_ = zipped.Close()
	return buffer.Bytes()
}

// fixture is an Installer with a registry and an empty cache.
type fixture struct {
	registry *fakeRegistry
	deps     npm.Deps
	log      *bytes.Buffer
}

func setUp(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{registry: newRegistry(t), log: new(bytes.Buffer)}
	client := s3test.Client(s3test.StartServer(t))
	f.deps = npm.Deps{
		Registry: f.registry.server.URL, AllowPrivate: true,
		Bucket: objectstore.Wrap(s3test.Of(client)).Bucket(s3test.CreateBucket(t, client, "files")),
		Clock:  time.Now, Logger: slog.New(slog.NewTextHandler(f.log, nil)),
	}
	return f
}

// patience is a timeout that no test reaches, also on a slow machine with the race detector.
const patience = 10 * time.Minute

// install installs dependencies such as `"a":"^1"`.
func (f *fixture) install(t testing.TB, dependencies, lock string) (map[string][]byte, npm.Report, error) {
	t.Helper()
	return f.installWithin(t, patience, dependencies, lock)
}

// installWithin is like install, with a timeout of each request.
func (f *fixture) installWithin(
	t testing.TB, request time.Duration, dependencies, lock string,
) (map[string][]byte, npm.Report, error) {
	t.Helper()
	installer := npm.NewWithTimes(f.deps, patience, request)
	return installInto(t, installer, project(fmt.Sprintf("{\n  \"dependencies\": {%s}\n}", dependencies), lock))
}

// installInto installs the packages of a project into a new tree, and returns the files.
func installInto(t testing.TB, i *npm.Installer, in npm.Project) (map[string][]byte, npm.Report, error) {
	t.Helper()
	files, err := tree.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	report, err := i.Install(t.Context(), in, files)
	return readTree(t, files), report, err
}

// readTree returns the files of a tree.
func readTree(t testing.TB, files *tree.Tree) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for name := range files.Files() {
		data, err := files.Read(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		all[name] = data
	}
	return all
}

// project returns a project. It has no lock file if lock is "".
func project(manifest, lock string) npm.Project {
	files := map[string][]byte{"/package.json": []byte(manifest)}
	if lock != "" {
		files["/package-lock.json"] = []byte(lock)
	}
	return npm.Project{Files: files}
}

// resolve returns the versions that are selected for a package.json, by location, and the warnings.
func (f *fixture) resolve(manifest string) (map[string]string, []string, error) {
	return npm.Resolve(context.Background(), f.deps, project(manifest, ""))
}

// want checks that files has exactly these paths.
func want(t *testing.T, files map[string][]byte, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if files[path] == nil {
			t.Errorf("%s is missing", path)
		}
	}
	if len(files) != len(paths) {
		for path := range files {
			t.Logf("got %s", path)
		}
		t.Errorf("got %d files, want %d", len(files), len(paths))
	}
}

// wantFailure checks that err is a failure with a code and a part of its message.
func wantFailure(t *testing.T, err error, code failure.Code, message string) *failure.Error {
	t.Helper()
	f, ok := errors.AsType[*failure.Error](err)
	if !ok {
		t.Fatalf("got error %v, want a failure", err)
	}
	if f.Code != code || !strings.Contains(f.Message, message) {
		t.Errorf("got %s: %s\nwant %s: … %s …", f.Code, f.Message, code, message)
	}
	return f
}
