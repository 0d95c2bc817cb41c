package site

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
)

const (
	first  = "dpl_01KGA4ZK70ABCDEFGHJKMNPQR1"
	second = "dpl_01KGA4ZK70ABCDEFGHJKMNPQR2"

	revalidate = "public, max-age=0, must-revalidate"
	immutable  = "public, max-age=31536000, immutable"
	htmlType   = "text/html; charset=utf-8"
)

// shop is a deployment with a file of every kind.
var shop = map[string]content{
	"/index.html":          {text: "<h1>Shop</h1>", kind: htmlType, gzip: true},
	"/404.html":            {text: "<h1>Not in the shop</h1>", kind: htmlType, gzip: true},
	"/docs/index.html":     {text: "docs", kind: htmlType},
	"/assets/app-a1b2.js":  {text: "alert(1)", kind: "text/javascript; charset=utf-8", hashed: true, gzip: true},
	"/assets/pic-a1b2.png": {text: "PNG", kind: "image/png", hashed: true},
	"/empty":               {},
	"/100%.txt":            {text: "percent"},
}

// newShop returns a fixture with shop as a live deployment.
func newShop(t testing.TB, change func(*Deps)) *fixture {
	t.Helper()
	f := newFixture(t, change)
	f.deploy(first, shop)
	f.live(first)
	return f
}

func TestFiles(t *testing.T) {
	t.Parallel()
	f := newShop(t, nil)
	f.put("app", Address{AccountID: account, DeploymentID: first, Production: true, SPA: true})
	f.put("shop--abcdefghijklmnop", Address{AccountID: account, DeploymentID: first})
	for _, tc := range []struct {
		host, path, accept string
		status             int
		body               string
		header             []string
	}{
		{host, "/", "gzip", 200, "<h1>Shop</h1>", []string{"Cache-Control", revalidate, "Content-Type", htmlType,
			"Content-Encoding", "gzip", "Vary", "Accept-Encoding", "X-Robots-Tag", "", "X-Deployment-Id", first}},
		{host, "/index.html", "", 200, "<h1>Shop</h1>", []string{"Content-Encoding", "", "Vary", "Accept-Encoding"}},
		{host, "/?a=1", "", 200, "<h1>Shop</h1>", nil},
		{host, "/docs/", "gzip", 200, "docs", []string{"Content-Encoding", "", "Vary", ""}},
		{host, "/docs?a=1&b=%20", "", 308, "", []string{"Location", "/docs/?a=1&b=%20", "Cache-Control", revalidate}},
		{host, "/assets/app-a1b2.js", "br, gzip", 200, "alert(1)", []string{"Cache-Control", immutable,
			"Content-Type", "text/javascript; charset=utf-8", "Content-Encoding", "gzip"}},
		{host, "/assets/pic-a1b2.png", "", 200, "PNG", []string{"Cache-Control", immutable, "Content-Type", "image/png"}},
		{host, "/assets/pic%2Da1b2.png", "", 200, "PNG", []string{"Cache-Control", immutable}},
		{host, "/empty", "", 200, "", []string{"Content-Type", "text/plain; charset=utf-8"}},
		{host, "/100%25.txt", "", 200, "percent", nil},
		{host, "/missing", "gzip", 404, "<h1>Not in the shop</h1>", []string{"Cache-Control", revalidate,
			"Content-Encoding", "gzip", "Etag", "", "Accept-Ranges", "", "X-Deployment-Id", first}},
		{host, "/docs/../index.html", "", 404, "<h1>Not in the shop</h1>", nil},
		{host, "/%2e%2e/%2e%2e/" + second + "/index.html", "", 404, "<h1>Not in the shop</h1>", nil},
		{host, "/docs%00", "", 404, "<h1>Not in the shop</h1>", nil},
		{host, "//evil.example/docs", "", 404, "<h1>Not in the shop</h1>", []string{"Location", ""}},
		{"app.example.app", "/missing", "", 200, "<h1>Shop</h1>", []string{"Cache-Control", revalidate}},
		{"shop--abcdefghijklmnop.example.app", "/", "", 200, "<h1>Shop</h1>", []string{"X-Robots-Tag", "noindex"}},
		{"shop--abcdefghijklmnop.example.app", "/assets/pic-a1b2.png", "", 200, "PNG", []string{
			"X-Robots-Tag", "noindex", "Cache-Control", immutable}},
	} {
		w := f.get(tc.host, tc.path, "Accept-Encoding", tc.accept)
		if got := plain(t, w); w.Code != tc.status || got != tc.body {
			t.Errorf("%s%s: got %d %q, want %d %q", tc.host, tc.path, w.Code, got, tc.status, tc.body)
		}
		wantHeader(t, w, tc.header...)
		wantHeader(t, w, "X-Content-Type-Options", "nosniff", "Set-Cookie", "", "Content-Length", "",
			"Content-Security-Policy", "", "Strict-Transport-Security", "max-age=31536000",
			"Referrer-Policy", "strict-origin-when-cross-origin")
	}
}

// On a laptop, the origin is not https. Then there is no HSTS.
func TestPlainOrigin(t *testing.T) {
	t.Parallel()
	f := newShop(t, func(d *Deps) { d.Origin = "http://localhost:3001" })
	w := f.get("shop.localhost:3001", "/docs/")
	wantHeader(t, w, "Strict-Transport-Security", "")
	if w.Code != http.StatusOK {
		t.Errorf("got status %d, want 200", w.Code)
	}
}

// The host selects the address. Only labels directly below the origin are addresses.
func TestHosts(t *testing.T) {
	t.Parallel()
	f := newShop(t, nil)
	for host, want := range map[string]int{
		"shop.example.app": 200, "SHOP.Example.App": 200, "shop.example.app.": 200, "shop.example.app:443": 200,
		"example.app": 404, ".example.app": 404, "x.shop.example.app": 404, "shop.example.app.evil.com": 404,
		"shopexample.app": 404, "shop.evil.com": 404, "": 404, "sh\x00op.example.app": 404, "shop#.example.app": 404,
		strings.Repeat("a", 64) + ".example.app": 404, "shop": 404, "[::1]:3001": 404,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/docs/", nil)
		r.Host = host
		r.Header.Set("Host", "shop.example.app")
		r.Header.Set("X-Forwarded-Host", "shop.example.app")
		w := httptest.NewRecorder()
		if f.handler.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%q: got status %d, want %d", host, w.Code, want)
		}
	}
	// The table is not read for a host that cannot be an address.
	if got := strings.Count(f.log.String(), `"dynamodbCalls":0`); got != 12 {
		t.Errorf("got %d requests without a read, want 12", got)
	}
	none := newFixture(t, func(d *Deps) { d.Origin = "" })
	if w := none.get("shop", "/"); w.Code != http.StatusNotFound {
		t.Errorf("without an origin: got status %d, want 404", w.Code)
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	f := newShop(t, nil)
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "PROPFIND"} {
		known, unknown := f.do(method, host, "/x", nil), f.do(method, "unknown.example.app", "/x", nil)
		wantHeader(t, known, "Allow", "GET, HEAD", "Cache-Control", "no-store")
		if known.Code != http.StatusMethodNotAllowed || known.Body.String() != unknown.Body.String() {
			t.Errorf("%s: got %d %s, want 405 at each address", method, known.Code, known.Body)
		}
	}
}

// Addresses that show nothing cannot be told apart.
func TestAddressesWithoutSite(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.deploy(first, map[string]content{"/index.html": {text: "x"}})
	later := epoch.Add(time.Hour).Unix()
	f.put("offline", Address{ProjectID: "p", AccountID: account, Production: true})
	f.put("reserved", Address{ReservedFor: "ws_01KGA4V5N2ABCDEFGHJKMNPQRS", ExpiresAt: later})
	f.put("given-up", Address{DeploymentID: first, ReservedFor: "ws_01KGA4V5N2ABCDEFGHJKMNPQRS", ExpiresAt: later})
	f.put("expired", Address{DeploymentID: first, ExpiresAt: epoch.Unix() - 1})
	f.put("deleted", Address{AccountID: account, DeploymentID: second, Production: true})
	f.put("live", Address{AccountID: account, DeploymentID: first, Production: true})
	want := f.get("unknown.example.app", "/")
	wantHeader(t, want, "Cache-Control", "no-store", "Content-Type", htmlType, "X-Robots-Tag", "noindex",
		"X-Content-Type-Options", "nosniff", "X-Deployment-Id", "")
	if want.Code != http.StatusNotFound || !strings.Contains(want.Body.String(), "There is no page at this address.") {
		t.Errorf("got %d %s, want a 404 page", want.Code, want.Body)
	}
	for _, address := range []string{
		"offline.example.app/", "reserved.example.app/", "given-up.example.app/", "expired.example.app/",
		"deleted.example.app/x", "live.example.app/missing", "no_label.example.app/", "example.app/", "evil.com/",
	} {
		host, path, _ := strings.Cut(address, "/")
		got := f.get(host, "/"+path)
		if diff := cmp.Diff(want.Header(), got.Header()); diff != "" || got.Code != want.Code ||
			got.Body.String() != want.Body.String() {
			t.Errorf("%s: got %d %s, want the page of an unknown address; headers (-want +got):\n%s",
				address, got.Code, got.Body, diff)
		}
	}
}

func TestBlocked(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.deploy(first, shop)
	for label, a := range map[string]Address{
		"live":    {AccountID: account, DeploymentID: first, Production: true, Blocked: true},
		"offline": {AccountID: account, Blocked: true},
	} {
		f.put(label, a)
		w := f.get(label+".example.app", "/docs/")
		wantHeader(t, w, "Cache-Control", "no-store", "X-Deployment-Id", "", "Etag", "")
		if w.Code != http.StatusUnavailableForLegalReasons || !strings.Contains(w.Body.String(), "blocked") {
			t.Errorf("%s: got %d %s, want a 451 page", label, w.Code, w.Body)
		}
	}
}

// A deployment that is deleted while a request reads its objects is replaced by the one that is live then.
func TestDeletedWhileReading(t *testing.T) {
	t.Parallel()
	manifestKey := func(f *fixture) string { return f.manifestKey(first) }
	fileKey := func(f *fixture) string { return f.fileKey(first, "/index.html") }
	for name, tc := range map[string]struct {
		next   string                  // the deployment that becomes live
		during func(f *fixture) string // the key of the object during whose read the deployment is deleted
		want   int
	}{
		"replaced, manifest": {second, manifestKey, 200},
		"replaced, file":     {second, fileKey, 200},
		"offline, manifest":  {"", manifestKey, 404},
		"offline, file":      {"", fileKey, 404},
		"unchanged":          {first, fileKey, 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			for id, text := range map[string]string{first: "one", second: "two"} {
				f.deploy(id, map[string]content{"/index.html": {text: text}})
			}
			f.live(first)
			once := sync.OnceFunc(func() {
				f.live(tc.next)
				f.remove(first, "/index.html")
			})
			f.onRead = func(r *http.Request) {
				if strings.HasSuffix(r.URL.Path, tc.during(f)) {
					once()
				}
			}
			w := f.do(http.MethodGet, host, "/", nil)
			if w.Code != tc.want || (tc.want == 200 && w.Body.String() != "two") {
				t.Errorf("got %d %s, want %d", w.Code, w.Body, tc.want)
			}
			if tc.want == 404 {
				wantHeader(t, w, "X-Deployment-Id", "", "Etag", "", "Cache-Control", "no-store")
			}
		})
	}
}

// Unavailable storage results in a 503 page that says when to try again.
func TestStorageUnavailable(t *testing.T) {
	t.Parallel()
	unavailable := func(r *http.Response) { r.StatusCode = http.StatusServiceUnavailable }
	cut := func(r *http.Response) { r.Body = cutBody{r.Body, 3} }
	for name, damage := range map[string]func(*fixture){
		"DynamoDB":            func(f *fixture) { f.wire.Break("GetItem", dynamotest.ServerError) },
		"S3":                  func(f *fixture) { f.change = unavailable },
		"S3, incomplete":      func(f *fixture) { f.change = cut },
		"S3, after the first": func(f *fixture) { f.get(host, "/docs/"); f.change = unavailable },
		"S3, incomplete file": func(f *fixture) { f.get(host, "/docs/"); f.change = cut },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newShop(t, nil)
			damage(f)
			w := f.do(http.MethodGet, host, "/", nil)
			wantHeader(t, w, "Retry-After", "5", "Cache-Control", "no-store", "Content-Type", htmlType, "Etag", "",
				"X-Deployment-Id", "", "Content-Encoding", "")
			if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "try again") {
				t.Errorf("got %d %s, want a 503 page", w.Code, w.Body)
			}
			if !strings.Contains(f.log.String(), `"level":"ERROR"`) {
				t.Errorf("logged %s, want an error", f.log)
			}
		})
	}
}

// cutBody breaks after n bytes.
type cutBody struct {
	body io.Closer
	n    int
}

func (c cutBody) Read(p []byte) (int, error) {
	return copy(p[:min(len(p), c.n)], "xxx"), errors.New("connection reset by peer")
}

func (c cutBody) Close() error { return c.body.Close() }

// An object that does not have the content of the manifest is an error of the service.
func TestDamagedObjects(t *testing.T) {
	t.Parallel()
	f := newShop(t, nil)
	for path, data := range map[string]string{
		"/assets/pic-a1b2.png": "PN", "/assets/app-a1b2.js": "not gzip", "/index.html": string(compress([]byte("<h1>"))),
	} {
		f.must(f.objects.DeleteAll(t.Context(), f.fileKey(first, path)))
		f.must(f.objects.Create(t.Context(), f.fileKey(first, path), []byte(data)))
		if w := f.do(http.MethodGet, host, path, nil); w.Code != http.StatusInternalServerError {
			t.Errorf("%s: got %d %q, want a 500 page", path, w.Code, w.Body)
		}
	}
	f.must(f.objects.Create(t.Context(), f.manifestKey(second), []byte("{")))
	f.live(second)
	if w := f.get(host, "/"); w.Code != http.StatusInternalServerError {
		t.Errorf("manifest: got %d %s, want a 500 page", w.Code, w.Body)
	}
}

// The log has one line for each request. It contains neither paths nor queries.
func TestLog(t *testing.T) {
	t.Parallel()
	f := newShop(t, nil)
	f.do(http.MethodGet, host, "/docs/?token=secret", nil)
	f.do(http.MethodGet, host, "/private-name", nil)
	lines := strings.Split(strings.TrimSpace(f.log.String()), "\n")
	for _, want := range []string{`"label":"shop"`, `"deploymentId":"` + first, `"status":200`, `"bytes":4`,
		`"requestId":"req-1"`, `"dynamodbCalls":3`} {
		if len(lines) != 2 || !strings.Contains(lines[0], want) {
			t.Errorf("logged %s, want two lines, the first with %s", lines, want)
		}
	}
	if strings.Contains(f.log.String(), "secret") || strings.Contains(f.log.String(), "private") {
		t.Errorf("the log contains a path or a query: %s", f.log)
	}
}

// A view costs one GetItem. The manifest, the file, the workspace and the traffic are read with the first view.
func TestCalls(t *testing.T) {
	t.Parallel()
	f := newShop(t, nil)
	for i, want := range []int64{2, 0, 0} {
		f.reads.Store(0)
		f.do(http.MethodGet, host, "/", nil)
		if got := f.reads.Load(); got != want {
			t.Errorf("view %d: got %d calls of S3, want %d", i, got, want)
		}
		line := strings.Split(strings.TrimSpace(f.log.String()), "\n")[i]
		calls := []string{`"dynamodbCalls":3`, `"dynamodbCalls":1`, `"dynamodbCalls":1`}[i]
		s3 := fmt.Sprintf(`"s3Calls":%d,"s3Depth":`, want)
		if !strings.Contains(line, calls) || strings.Contains(line, s3) != (want > 0) {
			t.Errorf("view %d: logged %s, want %s and %d calls of S3", i, line, calls, want)
		}
	}
	f.reads.Store(0)
	for _, header := range []http.Header{{"If-None-Match": {"*"}}, {"Range": {"bytes=1000-"}}} {
		f.do(http.MethodGet, host, "/docs/", header)
	}
	f.do(http.MethodHead, host, "/docs/", nil)
	if got := f.reads.Load(); got != 0 {
		t.Errorf("responses without content: got %d calls of S3, want none", got)
	}
}

// Concurrent requests while deployments change get a complete page of one deployment.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, id := range []string{first, second} {
		f.deploy(id, map[string]content{"/index.html": {text: strings.Repeat(id, 5000), gzip: true}})
	}
	f.live(first)
	errs := make(chan error, 16)
	for i := range cap(errs) {
		go func() {
			var err error
			for j := range 20 {
				if i == 0 {
					f.live([]string{first, second}[j%2])
				}
				w := f.do(http.MethodGet, host, "/", http.Header{"Accept-Encoding": {[]string{"gzip", ""}[(i+j)%2]}})
				id := w.Header().Get("X-Deployment-Id")
				if w.Code != 200 || plain(t, w) != strings.Repeat(id, 5000) {
					err = fmt.Errorf("got %d, %d bytes of %s", w.Code, w.Body.Len(), id)
				}
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
