package site

import (
	"bytes"
	"compress/gzip"
	"container/list"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/singleflight"

	"devplatform/shared/async"
	"devplatform/shared/objectstore"
)

const (
	// maxManifests is the maximum size of all manifests in memory, in bytes of JSON. In memory they have about twice that
	// size.
	maxManifests = 16 << 20
	// maxObjects is the maximum size of all objects in memory, in bytes.
	maxObjects = 64 << 20
	// maxSmall is the maximum size of files whose objects are cached in memory, in bytes.
	maxSmall = 256 << 10
	// gzipFactor raises maxSmall for compressed objects, which have about a quarter of the size of their files.
	gzipFactor = 4
)

// newManifestCache returns a cache of manifests. Errors of its get: objectstore.ErrNotFound,
// objectstore.ErrUnavailable.
func newManifestCache(bucket objectstore.Bucket) *cache[Manifest] {
	return newCache(maxManifests, func(ctx context.Context, key string) (m Manifest, size int, err error) {
		data, err := bucket.Get(ctx, key)
		if err != nil {
			return m, 0, err
		}
		if err := json.Unmarshal(data, &m); err != nil {
			return m, 0, fmt.Errorf("site: the manifest %s is not valid: %w", key, err)
		}
		return m, len(data), nil
	})
}

// newObjectCache returns a cache of the bytes of objects. Errors of its get: objectstore.ErrNotFound,
// objectstore.ErrUnavailable.
func newObjectCache(bucket objectstore.Bucket) *cache[[]byte] {
	return newCache(maxObjects, func(ctx context.Context, key string) ([]byte, int, error) {
		data, err := bucket.Get(ctx, key)
		return data, len(data), err
	})
}

// isSmall reports whether the object of a file is cached in memory.
func (h *Handler) isSmall(f File) bool {
	if f.Gzip {
		return f.Size <= h.maxSmall*gzipFactor
	}
	return f.Size <= h.maxSmall
}

// open opens the object of a file for reading a part of it. Small objects come from memory. Errors:
// objectstore.ErrNotFound, objectstore.ErrUnavailable.
func (v *view) open(key string, f File, p part, compressed bool) (body io.ReadCloser, err error) {
	isRange := p.status == http.StatusPartialContent
	switch {
	case v.isSmall(f):
		var data []byte
		data, err = v.objects.get(v.ctx, key)
		body = io.NopCloser(bytes.NewReader(data))
	case isRange && !f.Gzip:
		return v.Bucket.OpenRange(v.ctx, key, p.start, p.length)
	default:
		body, _, err = v.Bucket.Open(v.ctx, key)
	}
	if err == nil && f.Gzip && !compressed {
		body, err = decompress(body)
	}
	if err == nil && isRange {
		body, err = readPart(body, p)
	}
	if err != nil {
		return nil, fmt.Errorf("site: read %s: %w", key, err)
	}
	return body, nil
}

// gzipBody is the content of a compressed object.
type gzipBody struct {
	*gzip.Reader

	object io.Closer
}

// gzipReaders contains gzip.Readers that are not in use. Each has buffers of about 40 KiB.
var gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

// decompress returns a reader of the content of a compressed object. It closes the object if there is an error.
func decompress(object io.ReadCloser) (io.ReadCloser, error) {
	b := &gzipBody{gzipReaders.Get().(*gzip.Reader), object}
	if err := b.Reset(object); err != nil {
		_ = b.Close()
		return nil, err //nolint:wrapcheck // wrapped by open
	}
	return b, nil
}

// Close closes the object.
func (b *gzipBody) Close() error {
	gzipReaders.Put(b.Reader)
	return b.object.Close()
}

// readPart returns a reader of a part of a body. It closes the body if there is an error.
func readPart(body io.ReadCloser, p part) (io.ReadCloser, error) {
	if _, err := io.CopyN(io.Discard, body, p.start); err != nil {
		_ = body.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(body, p.length), body}, nil
}

const (
	// loadTimeout is the time limit for reading an object into a cache. Several requests may wait for it.
	loadTimeout = 10 * time.Second
	// entryOverhead is added to the size of each value, so that many small values cannot use much more memory than max.
	entryOverhead = 512
)

// cache keeps the most recently used values that were read from objects, by the keys of the objects. A value never
// changes, because objects do not.
type cache[V any] struct {
	load   func(ctx context.Context, key string) (value V, size int, err error)
	max    int // bytes
	flight singleflight.Group

	mu    sync.Mutex
	byKey map[string]*list.Element
	order list.List // of *entry[V], the most recently used first
	size  int       // bytes
}

// entry is a value in memory.
type entry[V any] struct {
	key   string
	value V
	size  int // bytes
}

// newCache returns a cache of up to maxBytes. load reads a value and returns its size.
func newCache[V any](maxBytes int, load func(context.Context, string) (V, int, error)) *cache[V] {
	return &cache[V]{load: load, max: maxBytes, byKey: map[string]*list.Element{}}
}

// get returns the value of the object with that key. Concurrent calls read an object once. Errors: the errors of load.
func (c *cache[V]) get(ctx context.Context, key string) (V, error) {
	c.mu.Lock()
	element := c.byKey[key]
	if element != nil {
		c.order.MoveToFront(element)
	}
	c.mu.Unlock()
	if element != nil {
		return element.Value.(*entry[V]).value, nil
	}
	loaded, err, _ := c.flight.Do(key, func() (any, error) {
		// Other requests may wait for the value after the client of this request has left.
		ctx, cancel := async.Detach(ctx, loadTimeout)
		defer cancel()
		var value V
		err := async.Recover(func() error { // singleflight would hide where it panicked
			read, size, err := c.load(ctx, key)
			if err == nil {
				c.add(&entry[V]{key, read, size + entryOverhead})
			}
			value = read
			return err
		})
		return value, err
	})
	return loaded.(V), err
}

// add adds a value, and evicts the values that were not used for the longest time.
func (c *cache[V]) add(e *entry[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[e.key] != nil || e.size > c.max {
		return
	}
	c.byKey[e.key] = c.order.PushFront(e)
	c.size += e.size
	for c.size > c.max {
		oldest := c.order.Remove(c.order.Back()).(*entry[V])
		delete(c.byKey, oldest.key)
		c.size -= oldest.size
	}
}
