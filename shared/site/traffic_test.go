package site

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
)

// The decision for a response depends on its size. Larger responses are counted exactly.
func TestTrafficDecisions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for i, tc := range []struct {
		n      int64
		random float64
		want   int64 // added
	}{
		{0, 0, 0}, {-1, 0, 0}, {1, 0, sample}, {sample / 4, 0.2499, sample}, {sample / 4, 0.25, 0},
		{sample - 1, 0.9999999, 0}, {sample, 0.9999999, sample}, {3*sample + 7, 0.9999999, 3*sample + 7},
	} {
		before := f.counted("2031-05")
		f.random = func() float64 { return tc.random }
		f.must(f.handler.traffic.count(t.Context(), account, tc.n))
		if got := f.counted("2031-05") - before; got != tc.want {
			t.Errorf("%d: %d bytes, random %v: counted %d, want %d", i, tc.n, tc.random, got, tc.want)
		}
	}
}

// Only bytes of files are counted, for each account and month.
func TestTrafficOfViews(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	large := strings.Repeat("x", 2*mib)
	f.deploy(first, map[string]content{"/index.html": {text: large}, "/gzip": {text: large, gzip: true}})
	f.live(first)
	for _, tc := range []struct {
		method, path string
		header       http.Header
		want         int64
	}{
		{"GET", "/", nil, 2 * mib},
		{"HEAD", "/", nil, 0},
		{"GET", "/", http.Header{"If-None-Match": {"*"}}, 0},
		{"GET", "/", http.Header{"Range": {"bytes=1-1048577"}}, mib + 1},
		{"GET", "/gzip", nil, 2 * mib},
		{"GET", "/gzip", http.Header{"Accept-Encoding": {"gzip"}}, 0}, // a few KB, and the random number is almost 1
		{"GET", "/missing", nil, 0},
		{"POST", "/", nil, 0},
	} {
		before := f.counted("2031-05")
		f.do(tc.method, host, tc.path, tc.header)
		if got := f.counted("2031-05") - before; got != tc.want {
			t.Errorf("%s %s %v: counted %d bytes, want %d", tc.method, tc.path, tc.header, got, tc.want)
		}
	}
	f.clock.Advance(20 * 24 * time.Hour)
	f.do(http.MethodGet, host, "/", nil)
	if got := f.counted("2031-06"); got != 2*mib {
		t.Errorf("next month: counted %d bytes, want %d", got, 2*mib)
	}
}

// The limit takes effect at once on the instance that reaches it, and within a minute on others, until the month ends.
func TestTrafficLimit(t *testing.T) {
	t.Parallel()
	const restOfMonth, retryAfter = 1_432_480 * time.Second, "1432480" // from epoch
	f := newFixture(t, func(d *Deps) { d.TrafficLimit = 5 * mib })
	f.deploy(first, map[string]content{"/index.html": {text: strings.Repeat("x", 2*mib)}, "/small": {text: "x"}})
	f.live(first)
	f.put("other", Address{AccountID: "usr_other", DeploymentID: first, Production: true})
	other := New(f.handler.Deps) // another instance
	other.traffic.random = f.random
	status := func(h *Handler, host string) int {
		t.Helper()
		g := &fixture{t: t, handler: h, random: f.random}
		return g.do(http.MethodGet, host, "/small", nil).Code
	}
	if got := status(other, host); got != 200 {
		t.Fatalf("before: got %d, want 200", got)
	}
	for i, want := range []int{200, 200, 200, 429, 429} {
		w := f.do(http.MethodGet, host, "/", nil)
		if w.Code != want {
			t.Errorf("view %d: got %d, want %d", i, w.Code, want)
		}
		if want == 429 {
			wantHeader(t, w, "Retry-After", retryAfter, "Cache-Control", "no-store", "Content-Type", htmlType)
		}
	}
	if got := f.counted("2031-05"); got != 6*mib {
		t.Errorf("counted %d bytes, want %d", got, 6*mib)
	}
	if got := status(f.handler, "other.example.app"); got != 200 {
		t.Errorf("another account: got %d, want 200", got)
	}
	f.clock.Advance(59 * time.Second)
	if got := status(other, host); got != 200 {
		t.Errorf("another instance, after 59 s: got %d, want 200", got)
	}
	f.clock.Advance(time.Second)
	if got := status(other, host); got != 429 {
		t.Errorf("another instance, after 60 s: got %d, want 429", got)
	}
	f.clock.Advance(restOfMonth - 61*time.Second)
	if got := status(f.handler, host); got != 429 {
		t.Errorf("in the last second of the month: got %d, want 429", got)
	}
	f.clock.Advance(time.Second)
	if got := status(f.handler, host); got != 200 {
		t.Errorf("in the next month: got %d, want 200", got)
	}
}

// If the counter cannot be read or written, sites are served, and the last known value is used.
func TestTrafficUnavailable(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *Deps) { d.TrafficLimit = 3 * mib })
	f.deploy(first, map[string]content{"/index.html": {text: strings.Repeat("x", 2*mib)}})
	f.live(first)
	f.wire.Break("UpdateItem", dynamotest.ServerError)
	if w := f.do(http.MethodGet, host, "/", nil); w.Code != 200 || !strings.Contains(f.log.String(), "not counted") {
		t.Errorf("without writes: got %d and the log %s, want 200 and a warning", w.Code, f.log)
	}
	f.wire.Clear()
	counter := f.handler.traffic
	for range 2 {
		f.must(counter.count(t.Context(), account, 2*mib))
	}
	f.clock.Advance(time.Hour)
	f.wire.Break("GetItem", dynamotest.ServerError)
	if exceeded, err := counter.isExceeded(t.Context(), account); !exceeded || err == nil {
		t.Errorf("known value: got %v, error %v, want true and an error", exceeded, err)
	}
	if exceeded, err := counter.isExceeded(t.Context(), "usr_other"); exceeded || err == nil {
		t.Errorf("unknown value: got %v, error %v, want false and an error", exceeded, err)
	}
	if exceeded, err := counter.isExceeded(t.Context(), "usr_other"); exceeded || err != nil {
		t.Errorf("in the same minute: got %v, error %v, want no read", exceeded, err)
	}
}

// The number of counters in memory is bounded.
func TestTrafficMemory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	counter := f.handler.traffic
	for i := range maxCounters + 1 {
		_, err := counter.learn(db.TrafficKey(strings.Repeat("x", i%7), time.Unix(int64(i), 0).String()), nil)
		f.must(err)
	}
	if got := len(counter.counters); got > maxCounters {
		t.Errorf("got %d counters, want at most %d", got, maxCounters)
	}
}
