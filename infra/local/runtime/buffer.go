package runtime

import (
	"bytes"
	"io"
	"sync"
)

// keptBuffer bounds what the pool keeps: a rare huge answer must not stay in memory.
const keptBuffer = 256 << 10

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// buffer is a whole body. Closing it gives its memory back.
type buffer struct {
	bytes.Reader
	content *bytes.Buffer // nil: the bytes are the caller's own
	all     []byte
}

// wrap makes a body of bytes that nobody changes.
func wrap(p []byte) *buffer {
	b := &buffer{all: p}
	b.Reset(p)
	return b
}

// collect reads a body of at most limit bytes; more is reported as not ok, and drained.
func collect(r io.Reader, limit int64) (b *buffer, ok bool, err error) {
	content := buffers.Get().(*bytes.Buffer)
	content.Reset()
	n, err := content.ReadFrom(io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		_, err = io.Copy(io.Discard, r)
		recycle(content)
		return nil, false, err //nolint:wrapcheck // the HTTP handler tells broken connections apart by nothing
	}
	if err != nil {
		recycle(content)
		return nil, false, err //nolint:wrapcheck // as above
	}
	b = &buffer{content: content, all: content.Bytes()}
	b.Reset(b.all)
	return b, true, nil
}

func recycle(content *bytes.Buffer) {
	if content.Cap() <= keptBuffer {
		buffers.Put(content)
	}
}

func (b *buffer) bytes() []byte { return b.all }

// Close gives the memory back; it may be called more than once, by one goroutine.
func (b *buffer) Close() error {
	if b.content != nil {
		recycle(b.content)
		b.content = nil
	}
	b.all = nil
	b.Reset(nil)
	return nil
}
