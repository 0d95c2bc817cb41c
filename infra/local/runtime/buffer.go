package runtime

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// maxPooledBuffer is the capacity above which a buffer is not pooled, so that a rare large response does not stay in memory.
const maxPooledBuffer = 256 << 10

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// buffer is a buffered body. Close returns its memory to the pool.
type buffer struct {
	bytes.Reader
	content *bytes.Buffer // nil if the bytes are not pooled
	all     []byte
}

// newBuffer returns a body of bytes that must not change.
func newBuffer(p []byte) *buffer {
	b := &buffer{all: p}
	b.Reset(p)
	return b
}

// readBody reads a body of at most limit bytes. If the body is larger, it reads all of it and returns errTooLarge.
func readBody(r io.Reader, limit int64) (*buffer, error) {
	content := buffers.Get().(*bytes.Buffer)
	content.Reset()
	n, err := content.ReadFrom(io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		if _, err = io.Copy(io.Discard, r); err == nil {
			err = errTooLarge
		}
	}
	b := newBuffer(content.Bytes())
	b.content = content
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Close returns the memory to the pool. It may be called more than once by one goroutine.
func (b *buffer) Close() error {
	if b.content != nil && b.content.Cap() <= maxPooledBuffer {
		buffers.Put(b.content)
	}
	b.content, b.all = nil, nil
	b.Reset(nil)
	return nil
}
