package site

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"devplatform/shared/objectstore"
)

// The format of a manifest is read by every version of the function.
func TestManifestFormat(t *testing.T) {
	t.Parallel()
	m := Manifest{Files: map[string]File{
		"/a": {Size: 3, SHA256: Hash{1, 2}, ContentType: "text/css", Hashed: true, Gzip: true},
	}}
	data, err := json.Marshal(m)
	const want = `{"files":{"/a":{"size":3,"sha256":"AQIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",` +
		`"contentType":"text/css","hashed":true,"gzip":true}}}`
	if err != nil || string(data) != want {
		t.Errorf("got %s, error %v, want %s", data, err, want)
	}
}

// The least recently used manifests are evicted when the cache is full.
func TestManifestsAreEvicted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	var ids []string
	for i := range 4 {
		ids = append(ids, fmt.Sprintf("dpl_%d", i))
		f.deploy(ids[i], map[string]content{"/index.html": {}})
	}
	f.deploy("dpl_large", map[string]content{"/1": {}, "/2": {}, "/3": {}, "/4": {}})
	data, err := f.objects.Get(t.Context(), f.manifestKey(ids[0]))
	f.must(err)
	c := newManifests(f.handler.Bucket, 3*len(data))
	var loaded []string
	for _, id := range []string{
		ids[0], ids[1], ids[2], ids[0], ids[3], ids[0], ids[2], ids[1], ids[1], "dpl_large", "dpl_large", ids[1],
	} {
		before := f.reads.Load()
		if _, err := c.get(t.Context(), f.manifestKey(id)); err != nil {
			t.Fatal(err)
		}
		if f.reads.Load() > before {
			loaded = append(loaded, id)
		}
		if c.size > c.max || c.order.Len() != len(c.byKey) {
			t.Errorf("got %d bytes in %d of %d manifests", c.size, c.order.Len(), len(c.byKey))
		}
	}
	want := []string{ids[0], ids[1], ids[2], ids[3], ids[1], "dpl_large", "dpl_large"}
	if !slices.Equal(loaded, want) {
		t.Errorf("loaded %v, want %v", loaded, want)
	}
	if _, err := c.get(t.Context(), "dpl_missing"); !errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("got error %v, want ErrNotFound", err)
	}
}

// Concurrent requests read a manifest once.
func TestManifestsAreReadOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.deploy(first, map[string]content{"/index.html": {}})
	const waiting = 8
	started := make(chan struct{}, waiting)
	all := sync.OnceFunc(func() {
		for range waiting {
			<-started
		}
	})
	f.onRead = func(*http.Request) { all() } // the first read lasts until all requests have begun
	var group sync.WaitGroup
	for range waiting {
		group.Go(func() {
			started <- struct{}{}
			if m, err := f.handler.manifests.get(t.Context(), f.manifestKey(first)); err != nil || !m.has("/index.html") {
				t.Errorf("got %v, error %v", m, err)
			}
		})
	}
	group.Wait()
	if got := f.reads.Load(); got != 1 {
		t.Errorf("got %d reads, want 1", got)
	}
}
