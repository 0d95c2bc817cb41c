package site

import (
	"net/http"
	"strings"
	"testing"
)

// TestEncodings checks whether the response to a header is compressed, without and with a range.
func TestEncodings(t *testing.T) {
	t.Parallel()
	f := newShop(t, nil)
	for _, tc := range []struct {
		accept               []string
		compressed, hasRange bool // whether a response is compressed, and whether a range is served
	}{
		{nil, false, true},
		{[]string{""}, false, true},
		{[]string{"gzip"}, true, true},
		{[]string{"GZIP"}, true, true},
		{[]string{"x-gzip"}, true, true},
		{[]string{"gzip, deflate, br, zstd"}, true, true},
		{[]string{"br", "gzip"}, true, true},
		{[]string{"br;q=1.0, gzip;q=0.8, *;q=0.1"}, true, true},
		{[]string{"*"}, true, true},
		{[]string{"*;q=0.5"}, true, true},
		{[]string{"gzip ; q=0.001"}, true, true},
		{[]string{"gzip;Q=1"}, true, true},
		{[]string{"gzip;q=0"}, false, true},
		{[]string{"gzip;q=0.000"}, false, true},
		{[]string{"gzip;q=0, *"}, false, true},
		{[]string{"*;q=0"}, false, true}, // nothing is acceptable
		{[]string{"identity"}, false, true},
		{[]string{"identity;q=1, *;q=0"}, false, true}, // Chrome, for videos
		{[]string{"identity, gzip"}, true, true},
		{[]string{"identity, gzip;q=0.5"}, false, true},
		{[]string{"gzip, identity;q=0"}, true, false},
		{[]string{"gzip, *;q=0"}, true, false},
		{[]string{"gzip;q=2"}, false, true},
		{[]string{"gzip;q=x"}, false, true},
		{[]string{"gzip;q=NaN"}, false, true},
		{[]string{"br"}, false, true},
		{[]string{"gzipped"}, false, true},
		{[]string{",;,=;q"}, false, true},
	} {
		header := http.Header{"Accept-Encoding": tc.accept}
		w := f.do(http.MethodGet, host, "/", header)
		if compressed := w.Header().Get("Content-Encoding") == "gzip"; compressed != tc.compressed ||
			plain(t, w) != "<h1>Shop</h1>" {
			t.Errorf("%q: got a response that is compressed: %v, want %v", tc.accept, compressed, tc.compressed)
		}
		header.Set("Range", "bytes=4-7")
		w = f.do(http.MethodGet, host, "/", header)
		want := "<h1>Shop</h1>"
		if tc.hasRange {
			want = "Shop"
		}
		// If nothing is acceptable, the range is not served.
		if got := plain(t, w); got != want && (tc.accept[0] != "*;q=0" || got != "<h1>Shop</h1>") {
			t.Errorf("%q, with a range: got %d %q, want %q", tc.accept, w.Code, got, want)
		}
	}
}

// TestConditions checks conditional requests, for a plain and for a compressed response.
func TestConditions(t *testing.T) {
	t.Parallel()
	f := newShop(t, nil)
	for _, accept := range []string{"", "gzip"} {
		w := f.get(host, "/", "Accept-Encoding", accept)
		tag := w.Header().Get("Etag")
		strong := strings.TrimPrefix(tag, "W/")
		if isWeak := tag != strong; isWeak != (accept == "gzip") || len(strong) != 45 { // a SHA-256 in base64, and quotes
			t.Errorf("accept %q: got the ETag %s", accept, tag)
		}
		old := `Thu, 01 Jan 1970 00:00:00 GMT`
		for _, tc := range []struct {
			name, value string
			want        int
		}{
			{"If-None-Match", tag, 304},
			{"If-None-Match", strong, 304},
			{"If-None-Match", "W/" + strong, 304},
			{"If-None-Match", `"x", W/"y" , ` + strong, 304},
			{"If-None-Match", "*", 304},
			{"If-None-Match", `"x"`, 200},
			{"If-None-Match", "x", 200},
			{"If-None-Match", "", 200},
			{"If-None-Match", strings.Trim(strong, `"`), 200},
			{"If-Modified-Since", "Fri, 01 Jan 2100 00:00:00 GMT", 200}, // there is no Last-Modified
			{"If-Unmodified-Since", old, 200},
			{"If-Match", `"x"`, 412},
			{"If-Match", "*", 200},
		} {
			w := f.get(host, "/", "Accept-Encoding", accept, tc.name, tc.value, "If-Modified-Since", old)
			if w.Code != tc.want || (w.Code != 200 && w.Body.Len() > 0) {
				t.Errorf("accept %q, %s: %s: got %d and %d bytes, want %d", accept, tc.name, tc.value, w.Code, w.Body.Len(),
					tc.want)
			}
			if w.Code == http.StatusNotModified {
				wantHeader(t, w, "Etag", tag, "Cache-Control", revalidate, "Vary", "Accept-Encoding", "X-Deployment-Id", first,
					"Content-Type", htmlType, "Content-Encoding", "", "Content-Length", "")
			}
		}
	}
	// A changed page has another tag. A page that is the same in another deployment has the same.
	tag := f.get(host, "/").Header().Get("Etag")
	f.deploy(second, map[string]content{"/index.html": {text: "changed"}, "/docs/index.html": shop["/docs/index.html"]})
	docs := f.get(host, "/docs/").Header().Get("Etag")
	f.live(second)
	if w := f.get(host, "/", "If-None-Match", tag); w.Code != 200 {
		t.Errorf("changed page: got %d, want 200", w.Code)
	}
	if w := f.get(host, "/docs/", "If-None-Match", docs); w.Code != 304 {
		t.Errorf("unchanged page: got %d, want 304", w.Code)
	}
}

// TestRanges checks ranges of a plain and of a compressed object, in memory and in the bucket.
func TestRanges(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) { checkRanges(t, newFixture(t, nil)) })
	t.Run("bucket", func(t *testing.T) {
		f := newFixture(t, nil)
		f.handler.maxSmall = -1
		checkRanges(t, f)
	})
}

func checkRanges(t *testing.T, f *fixture) {
	t.Helper()
	const text = "0123456789"
	f.deploy(first, map[string]content{
		"/plain": {text: text}, "/gzip": {text: text, gzip: true}, "/empty": {}, "/404.html": {text: text},
	})
	f.live(first)
	tag := f.get(host, "/plain").Header().Get("Etag")
	for _, tc := range []struct {
		value, ifRange string
		status         int
		body, part     string
	}{
		{"bytes=0-0", "", 206, "0", "bytes 0-0/10"},
		{"bytes=2-4", "", 206, "234", "bytes 2-4/10"},
		{"bytes=7-", "", 206, "789", "bytes 7-9/10"},
		{"bytes=-3", "", 206, "789", "bytes 7-9/10"},
		{"bytes=-100", "", 206, text, "bytes 0-9/10"},
		{"bytes=5-100", "", 206, "56789", "bytes 5-9/10"},
		{"bytes=0-", "", 206, text, "bytes 0-9/10"},
		{"BYTES=2-4", "", 200, text, ""}, // net/http knows only the lower case
		{"bytes=10-", "", 416, "", "bytes */10"},
		{"bytes=-0", "", 416, "", "bytes */10"},
		{"bytes=100-200", "", 416, "", "bytes */10"},
		{"bytes=4-2", "", 416, "", ""},
		{"bytes=x", "", 416, "", ""},
		{"bytes=99999999999999999999-", "", 416, "", ""},
		{"bytes=0-1,3-4", "", 200, text, ""},
		{"bytes=" + strings.Repeat("0-0,", 1000) + "1-1", "", 200, text, ""},
		{"items=0-1", "", 200, text, ""},
		{"bytes", "", 200, text, ""},
		{"", "", 200, text, ""},
		{"bytes=2-4", tag, 206, "234", "bytes 2-4/10"},
		{"bytes=2-4", "W/" + tag, 200, text, ""}, // the comparison must be strong
		{"bytes=2-4", `"x"`, 200, text, ""},
		{"bytes=2-4", "Fri, 01 Jan 2100 00:00:00 GMT", 200, text, ""},
	} {
		for _, path := range []string{"/plain", "/gzip"} {
			w := f.get(host, path, "Range", tc.value, "If-Range", tc.ifRange, "Accept-Encoding", "gzip")
			if got := plain(t, w); w.Code != tc.status || got != tc.body {
				t.Errorf("%s: %.50s, If-Range %s: got %d %q, want %d %q", path, tc.value, tc.ifRange, w.Code, got,
					tc.status, tc.body)
			}
			if w.Code == http.StatusPartialContent {
				wantHeader(t, w, "Etag", tag, "Content-Encoding", "", "Cache-Control", revalidate, "Accept-Ranges", "bytes")
			}
			if w.Code != http.StatusRequestedRangeNotSatisfiable || tc.part != "" {
				wantHeader(t, w, "Content-Range", tc.part)
			}
		}
		if w := f.get(host, "/missing", "Range", tc.value); w.Code != 404 || w.Body.String() != text {
			t.Errorf("404.html: %.50s: got %d %q, want all of it", tc.value, w.Code, w.Body)
		}
	}
	if w := f.get(host, "/empty", "Range", "bytes=0-9"); w.Code != 200 || w.Body.Len() > 0 {
		t.Errorf("empty file: got %d, want 200", w.Code)
	}
	// A client must not combine a part of the content with a compressed response.
	wantHeader(t, f.get(host, "/gzip", "Accept-Encoding", "gzip"), "Accept-Ranges", "", "Etag", "W/"+tag)
	if w := f.get(host, "/plain", "Range", "bytes=0-1", "If-None-Match", tag); w.Code != http.StatusNotModified {
		t.Errorf("a range of a file that has not changed: got %d, want 304", w.Code)
	}
}
