package site

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/infra/local/dynamodb/dynamotest"
)

const (
	third    = "dpl_01KGA4ZK70ABCDEFGHJKMNPQR3"
	oldChunk = "/assets/page-FIRST234.js"
	midChunk = "/assets/page-SECOND34.js"
)

// newEarlier returns a fixture with three deployments, of which the last is live. The others were live earlier.
func newEarlier(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, nil)
	page := content{text: "<h1>Page</h1>", kind: htmlType}
	f.deploy(first, map[string]content{"/index.html": page, "/app.js": {text: "first"}, "/assets/app.js": {text: "first"},
		oldChunk: {text: "first", hashed: true, gzip: true}, "/assets/same-SAME2345.js": {text: "same", hashed: true}})
	f.deploy(second, map[string]content{"/index.html": page, midChunk: {text: "second", hashed: true},
		"/assets/same-SAME2345.js": {text: "same", hashed: true}})
	f.deploy(third, map[string]content{"/index.html": page, "/404.html": {text: "missing", kind: htmlType},
		"/assets/page-THIRD234.js": {text: "third", hashed: true}})
	f.put("shop--first", Address{AccountID: account, DeploymentID: first})
	f.put("shop--second", Address{AccountID: account, DeploymentID: second})
	f.put("shop--third", Address{AccountID: account, DeploymentID: third})
	f.liveAfter("second", "first")
	return f
}

// liveAfter makes the third deployment live after others, which are named by the ends of their labels.
func (f *fixture) liveAfter(earlier ...string) {
	f.t.Helper()
	a := Address{AccountID: account, DeploymentID: third, Production: true, SPA: true}
	for _, name := range earlier {
		a.Earlier = append(a.Earlier, EarlierDeployment{Label: "shop--" + name, Until: epoch.Add(time.Hour).Unix()})
	}
	f.put("shop", a)
}

// Files with hashed names of earlier deployments are shown, and other files of them are not.
func TestEarlier(t *testing.T) {
	t.Parallel()
	f := newEarlier(t)
	for path, want := range map[string]string{oldChunk: first, midChunk: second, "/assets/same-SAME2345.js": second} {
		w := f.get(host, path, "Accept-Encoding", "gzip")
		wantHeader(t, w, "X-Deployment-Id", want, "Cache-Control", immutable, "X-Robots-Tag", "")
		if w.Code != http.StatusOK || !strings.Contains("first second same", plain(t, w)) {
			t.Errorf("%s: got %d %q, want the file", path, w.Code, w.Body)
		}
		if etag := w.Header().Get("Etag"); f.get(host, path, "Accept-Encoding", "gzip", "If-None-Match", etag).Code != 304 {
			t.Errorf("%s: the ETag %s does not validate the file", path, etag)
		}
	}
	for path, want := range map[string]int{
		"/app.js": 200, "/assets/app.js": 404, oldChunk + "/": 404, "/" + oldChunk: 200, "/assets/page-FIRST235.js": 404,
	} {
		w := f.get(host, path)
		if w.Code != want || w.Header().Get("X-Deployment-Id") != third {
			t.Errorf("%s: got %d of %s, want %d of the live deployment", path, w.Code, w.Header().Get("X-Deployment-Id"), want)
		}
	}
	if w := f.get("shop--third.example.app", oldChunk); w.Code != http.StatusNotFound {
		t.Errorf("the deployment's own address: got %d, want 404", w.Code)
	}
}

// A deployment that was deleted, blocked or is no longer in the list, or whose time has ended, shows nothing. If
// another deployment has the file, it is shown.
func TestEarlierEnds(t *testing.T) {
	t.Parallel()
	shared := "/assets/same-SAME2345.js"
	own := func(f *fixture, name string, a Address) { f.put("shop--"+name, a) }
	for name, tc := range map[string]struct {
		end  func(f *fixture)
		want map[string]int
	}{
		"deleted": {func(f *fixture) { own(f, "second", Address{}) },
			map[string]int{midChunk: 404, oldChunk: 200, shared: 200}},
		"blocked": {func(f *fixture) {
			own(f, "second", Address{AccountID: account, DeploymentID: second, Blocked: true})
		}, map[string]int{midChunk: 404, oldChunk: 200, shared: 200}},
		"its objects are gone": {func(f *fixture) { f.remove(second, midChunk, shared) },
			map[string]int{midChunk: 404, oldChunk: 200, shared: 200}},
		"not in the list": {func(f *fixture) { f.liveAfter("second") },
			map[string]int{midChunk: 200, oldChunk: 404, shared: 200}},
		"no list": {func(f *fixture) { f.liveAfter() }, map[string]int{midChunk: 404, oldChunk: 404, shared: 404}},
		"expired": {func(f *fixture) { f.clock.Advance(time.Hour) },
			map[string]int{midChunk: 404, oldChunk: 404, shared: 404}},
		"site blocked": {func(f *fixture) {
			f.put("shop", Address{AccountID: account, DeploymentID: third, Production: true, Blocked: true,
				Earlier: []EarlierDeployment{{Label: "shop--second", Until: epoch.Add(time.Hour).Unix()}}})
		}, map[string]int{midChunk: 451}},
		"site offline": {func(f *fixture) {
			f.put("shop", Address{AccountID: account, Production: true,
				Earlier: []EarlierDeployment{{Label: "shop--second", Until: epoch.Add(time.Hour).Unix()}}})
		}, map[string]int{midChunk: 404}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newEarlier(t)
			if !strings.Contains(name, "objects") {
				for path := range tc.want { // into memory
					f.get(host, path)
				}
			}
			tc.end(f)
			for path, want := range tc.want {
				if w := f.get(host, path); w.Code != want {
					t.Errorf("%s: got %d, want %d", path, w.Code, want)
				}
			}
		})
	}
}

// The calls of a request for a file that the live deployment does not have: one more read in the bundler's folder, and
// none elsewhere. A file that is found costs its manifest and its object, once.
func TestCallsOfEarlier(t *testing.T) {
	t.Parallel()
	f := newEarlier(t)
	f.get(host, "/")
	calls := func(path string) string {
		f.reads.Store(0)
		f.do(http.MethodGet, host, path, nil)
		lines := strings.Split(strings.TrimSpace(f.log.String()), "\n")
		_, after, _ := strings.Cut(lines[len(lines)-1], `"dynamodbCalls":`)
		n, _, _ := strings.Cut(after, ",")
		return fmt.Sprintf("%s DynamoDB, %d S3", n, f.reads.Load())
	}
	f.do(http.MethodGet, host, "/missing", nil) // its page
	for _, tc := range []struct{ path, want string }{
		{"/", "1 DynamoDB, 0 S3"}, {"/assets/page-THIRD234.js", "1 DynamoDB, 1 S3"}, {"/missing", "1 DynamoDB, 0 S3"},
		{"/assets/missing.js", "2 DynamoDB, 1 S3"}, {"/assets/missing.js", "2 DynamoDB, 0 S3"},
		{midChunk, "2 DynamoDB, 2 S3"}, {midChunk, "2 DynamoDB, 0 S3"}, {oldChunk, "2 DynamoDB, 2 S3"},
	} {
		if got := calls(tc.path); got != tc.want {
			t.Errorf("%s: made the calls %s, want %s", tc.path, got, tc.want)
		}
	}
	f.wire.Break("BatchGetItem", dynamotest.ServerError)
	if w := f.do(http.MethodGet, host, oldChunk, nil); w.Code != http.StatusServiceUnavailable {
		t.Errorf("got %d while DynamoDB is down, want 503", w.Code)
	}
}

// A set of names has all files with hashed names, and no other path.
func TestNames(t *testing.T) {
	t.Parallel()
	m := Manifest{Files: map[string]File{}}
	for i := range 5000 {
		m.Files[fmt.Sprintf("/assets/%d.js", i)] = File{Hashed: i%2 == 0}
	}
	names := HashedPathsOf(m)
	if len(names) != 2500*checksumSize {
		t.Errorf("got %d bytes, want %d", len(names), 2500*checksumSize)
	}
	for path, f := range m.Files {
		if names.has(path) != f.Hashed {
			t.Errorf("%s: got %v, want %v", path, !f.Hashed, f.Hashed)
		}
	}
	for _, none := range []PathSet{nil, {}, {1, 2, 3}} {
		if none.has("/assets/0.js") {
			t.Errorf("%v has a file", none)
		}
	}
}
