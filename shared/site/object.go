package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"devplatform/shared/objectstore"
)

// This file reads the objects of files.

const (
	// maxObjects is the maximum size of all objects in memory.
	maxObjects = 64 << 20
	// maxSmall is the maximum size of files whose objects are cached in memory.
	maxSmall = 256 << 10
	// gzipFactor raises maxSmall for compressed objects, which have about a quarter of the size of their files.
	gzipFactor = 4
)

// newObjects returns a cache of the bytes of objects. Errors of its get: objectstore.ErrNotFound,
// objectstore.ErrUnavailable.
func newObjects(bucket objectstore.Bucket, maxBytes int) *cache[[]byte] {
	return newCache(maxBytes, func(ctx context.Context, key string) ([]byte, int, error) {
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
		body, err = section(body, p)
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

// decompressed is the content of a compressed object.
type decompressed struct {
	*gzip.Reader

	object io.Closer
}

// decompressors contains gzip.Readers that are not in use. Each has buffers of about 40 KiB.
var decompressors = sync.Pool{New: func() any { return new(gzip.Reader) }}

// decompress returns a reader of the content of a compressed object. It closes the object if there is an error.
func decompress(object io.ReadCloser) (io.ReadCloser, error) {
	d := &decompressed{decompressors.Get().(*gzip.Reader), object}
	if err := d.Reset(object); err != nil {
		_ = d.Close()
		return nil, err //nolint:wrapcheck // wrapped by open
	}
	return d, nil
}

// Close closes the object.
func (d *decompressed) Close() error {
	decompressors.Put(d.Reader)
	return d.object.Close()
}

// section returns a reader of a part of a body. It closes the body if there is an error.
func section(body io.ReadCloser, p part) (io.ReadCloser, error) {
	if _, err := io.CopyN(io.Discard, body, p.start); err != nil {
		_ = body.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(body, p.length), body}, nil
}
