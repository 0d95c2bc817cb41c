package site

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The least recently used values are evicted when the cache is full.
func TestCacheEvicts(t *testing.T) {
	t.Parallel()
	const size = 100
	var loaded []string
	c := newCache(3*(size+entryOverhead), func(_ context.Context, key string) (string, int, error) {
		loaded = append(loaded, key)
		switch key {
		case "missing":
			return "", 0, errors.New("not found")
		case "large":
			return "value of large", 3*(size+entryOverhead) + 1, nil
		}
		return "value of " + key, size, nil
	})
	for _, key := range strings.Fields("a b c a d a c b b large large b missing missing b") {
		value, err := c.get(t.Context(), key)
		if (err != nil) != (key == "missing") || (err == nil && value != "value of "+key) {
			t.Errorf("%s: got %q, error %v", key, value, err)
		}
		if c.size > c.max || c.order.Len() != len(c.byKey) {
			t.Errorf("%s: got %d bytes in %d of %d values", key, c.size, c.order.Len(), len(c.byKey))
		}
	}
	if want := strings.Fields("a b c d b large large missing missing"); !slices.Equal(loaded, want) {
		t.Errorf("loaded %v, want %v", loaded, want)
	}
}

// A panic while a value is loaded fails the requests that wait for it, and not the process. The next one loads it.
func TestPanicWhileLoading(t *testing.T) {
	t.Parallel()
	broken := true
	c := newCache(1<<10, func(context.Context, string) (string, int, error) {
		if broken {
			panic("broken")
		}
		return "value", 1, nil
	})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if value, err := c.get(t.Context(), "key"); err == nil || !strings.Contains(err.Error(), "panic: broken") {
				t.Errorf("got %q, error %v, want the panic as an error", value, err)
			}
		})
	}
	group.Wait()
	broken = false
	if value, err := c.get(t.Context(), "key"); value != "value" || err != nil {
		t.Errorf("got %q, error %v after the panic", value, err)
	}
}

// Concurrent requests read the manifest and the file once. A client that leaves does not fail the others.
func TestObjectsAreReadOnce(t *testing.T) {
	t.Parallel()
	f := newShop(t, nil)
	const waiting = 8
	started := make(chan struct{}, waiting)
	ctx, leave := context.WithCancel(t.Context())
	all := sync.OnceFunc(func() {
		for range waiting {
			<-started
		}
		leave()
	})
	f.onRead = func(*http.Request) { all() } // the first read lasts until all requests have begun
	var group sync.WaitGroup
	for range waiting {
		group.Go(func() {
			started <- struct{}{}
			m, err := f.handler.manifests.get(ctx, f.manifestKey(first))
			if err != nil || !m.has("/index.html") {
				t.Errorf("got %v, error %v", m, err)
			}
			data, err := f.handler.objects.get(ctx, f.fileKey(first, "/docs/index.html"))
			if err != nil || string(data) != "docs" {
				t.Errorf("got %q, error %v", data, err)
			}
		})
	}
	group.Wait()
	if got := f.reads.Load(); got != 2 {
		t.Errorf("got %d reads, want 2", got)
	}
}

// Only small files are kept in memory.
func TestSmallFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.deploy(first, map[string]content{
		"/empty": {}, "/plain": {text: large()[:maxSmall]}, "/plain+1": {text: large()[:maxSmall+1]},
		"/gzip":   {text: large()[:gzipFactor*maxSmall], gzip: true},
		"/gzip+1": {text: large()[:gzipFactor*maxSmall+1], gzip: true},
	})
	f.live(first)
	for path, want := range map[string]int64{"/empty": 0, "/plain": 0, "/plain+1": 1, "/gzip": 0, "/gzip+1": 1} {
		for _, header := range []http.Header{nil, {"Accept-Encoding": {"gzip"}}, {"Range": {"bytes=1000-"}}} {
			f.do(http.MethodGet, host, path, header)
			f.reads.Store(0)
			w := f.do(http.MethodGet, host, path, header)
			if got := f.reads.Load(); got != want && w.Code != http.StatusRequestedRangeNotSatisfiable {
				t.Errorf("%s, %v: got %d calls of S3, want %d", path, header, got, want)
			}
		}
	}
}

// A range of a large file reads no other bytes of the object.
func TestRangesOfLargeFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.deploy(first, map[string]content{"/plain": {text: large()[:2*mib]}})
	f.live(first)
	got := ""
	f.onRead = func(r *http.Request) { got = r.Header.Get("Range") }
	w := f.do(http.MethodGet, host, "/plain", http.Header{"Range": {"bytes=1000000-"}})
	if want := "bytes=1000000-2097151"; got != want || w.Body.String() != large()[1_000_000:2*mib] {
		t.Errorf("read the range %q, want %s; got %d bytes", got, want, w.Body.Len())
	}
}

// Changes of the address apply at once to files in memory.
func TestAccessIsNotCached(t *testing.T) {
	t.Parallel()
	f := newShop(t, func(d *Deps) { d.TrafficLimit = 1 << 20 })
	f.get(host, "/docs/")
	f.reads.Store(0)
	live := Address{AccountID: account, DeploymentID: first, Production: true}
	for _, step := range []struct {
		change func(*Address)
		want   int
	}{
		{func(*Address) {}, 200},
		{func(a *Address) { a.Blocked = true }, 451},
		{func(a *Address) { a.DeploymentID = "" }, 404},
		{func(a *Address) { a.ReservedFor = "ws_01KGA4V5N2ABCDEFGHJKMNPQRS" }, 404},
		{func(a *Address) { a.ExpiresAt = epoch.Unix() - 1 }, 404},
		{func(*Address) {}, 200},
	} {
		a := live
		step.change(&a)
		f.put("shop", a)
		if w := f.get(host, "/docs/"); w.Code != step.want {
			t.Errorf("%+v: got %d %s, want %d", a, w.Code, w.Body, step.want)
		}
	}
	f.must(f.handler.traffic.count(t.Context(), account, 1<<20))
	if w := f.get(host, "/docs/"); w.Code != http.StatusTooManyRequests {
		t.Errorf("traffic limit: got %d %s, want 429", w.Code, w.Body)
	}
	if got := f.reads.Load(); got != 0 {
		t.Errorf("got %d calls of S3, want none", got)
	}
}
