package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json"

	"devplatform/shared/objectstore"
)

const (
	// maxManifests is the maximum size of all manifests in memory, as JSON. In memory they have about twice that size.
	maxManifests = 16 << 20
	// maxObjects is the maximum size of all objects in memory.
	maxObjects = 64 << 20
	// maxSmall is the maximum size of files whose objects are cached in memory.
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

// open opens the object of a file for reading a part of it. Errors: objectstore.ErrNotFound,
// objectstore.ErrUnavailable.
func (v *view) open(key string, f File, p part, compressed bool) (io.ReadCloser, error) {
	isRange := p.status == http.StatusPartialContent
	if isRange && !f.Gzip && !v.isSmall(f) {
		return v.Bucket.OpenRange(v.ctx, key, p.start, p.length)
	}
	body, err := v.object(key, f)
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

// object opens the whole object of a file. Small objects come from memory.
func (v *view) object(key string, f File) (io.ReadCloser, error) {
	if !v.isSmall(f) {
		body, _, err := v.Bucket.Open(v.ctx, key)
		return body, err
	}
	data, err := v.objects.get(v.ctx, key)
	return io.NopCloser(bytes.NewReader(data)), err
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
