package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	// maxPrelude is the maximum size of the metadata and its delimiter.
	maxPrelude = 16 << 10
	// streamChunk is the maximum size of a write to the client.
	streamChunk = 32 << 10
	// defaultIdle is how long a stream of a regional API may pause.
	defaultIdle = 5 * time.Minute
)

var (
	delimiter   = make([]byte, 8)
	errPrelude  = errors.New("the stream does not begin with metadata and a delimiter")
	errIdle     = errors.New("the stream paused for too long")
	errGone     = errors.New("the client has disconnected")
	errDeadline = errors.New("the stream took longer than the integration's time-out")
)

// metadata is at the beginning of a streamed response.
type metadata struct {
	head
	Cookies []string `json:"cookies"`
}

// prelude collects the beginning of a stream until the metadata is complete.
type prelude struct{ buffer []byte }

// add adds the next bytes of the stream. done means that the delimiter was among them. Then head is the metadata, and
// rest are the first bytes of the body.
func (p *prelude) add(chunk []byte) (head, rest []byte, done bool, err error) {
	from := max(0, len(p.buffer)-len(delimiter)+1)
	p.buffer = append(p.buffer, chunk...)
	if at := bytes.Index(p.buffer[from:], delimiter); at >= 0 && from+at+len(delimiter) <= maxPrelude {
		return p.buffer[:from+at], p.buffer[from+at+len(delimiter):], true, nil
	}
	if len(p.buffer) >= maxPrelude {
		return nil, nil, false, errPrelude
	}
	return nil, nil, false, nil
}

// parseMetadata decodes the metadata of a streamed response.
func parseMetadata(head []byte) (*httpResponse, error) {
	head = bytes.TrimSpace(head)
	if len(head) == 0 || head[0] != '{' {
		return nil, errPrelude
	}
	var m metadata
	if err := json.Unmarshal(head, &m, decodeOptions); err != nil {
		return nil, fmt.Errorf("metadata of the stream: %w", err)
	}
	a, err := m.response()
	if err == nil && len(m.Cookies) > 0 {
		err = setChecked(a.header, "Set-Cookie", m.Cookies)
	}
	if err != nil {
		return nil, fmt.Errorf("metadata of the stream: %w", err)
	}
	return a, nil
}

// pump reads a function's response in its own goroutine, so that the reader can stop to wait for it. The runtime drains
// a body that is closed early: as on AWS, a function is not interrupted if its client disconnects.
type pump struct {
	chunks    chan []byte   // the next one is sent after taken
	taken     chan struct{} // the buffer of the last chunk may be reused
	abandoned chan struct{}
	err       error // set when chunks is closed; nil at the end of the response
}

func startPump(body io.ReadCloser) *pump {
	p := &pump{chunks: make(chan []byte), taken: make(chan struct{}), abandoned: make(chan struct{})}
	go p.run(body)
	return p
}

func (p *pump) run(body io.ReadCloser) {
	defer close(p.chunks)
	defer func() { _ = body.Close() }()
	buffer := make([]byte, streamChunk)
	for {
		n, err := body.Read(buffer)
		if n > 0 && !p.send(buffer[:n]) {
			return
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			p.err = err
			return
		}
	}
}

// send passes a chunk to the method each, and waits until it was used. It reports false if each has returned.
func (p *pump) send(chunk []byte) bool {
	select {
	case p.chunks <- chunk:
	case <-p.abandoned:
		return false
	}
	select {
	case <-p.taken:
		return true
	case <-p.abandoned:
		return false
	}
}

// each calls f with every chunk until the response ends, f fails, a limit is reached or gone is closed. It is called
// once.
func (p *pump) each(ctx context.Context, gone <-chan struct{}, idle time.Duration, f func([]byte) error) error {
	defer close(p.abandoned)
	silence := time.NewTimer(idle)
	defer silence.Stop()
	for {
		select {
		case chunk, ok := <-p.chunks:
			if !ok {
				return p.err
			}
			if err := f(chunk); err != nil {
				return err
			}
			p.taken <- struct{}{}
			silence.Reset(idle)
		case <-silence.C:
			return errIdle
		case <-ctx.Done():
			return errDeadline
		case <-gone:
			return errGone
		}
	}
}

// streamer sends a streamed response to the client.
type streamer struct {
	w       http.ResponseWriter
	flush   func() error
	prelude *prelude // nil once the headers are sent
	writing func()   // called before each write
}

// take handles the next bytes of the response. When it returns, they are sent.
func (s *streamer) take(chunk []byte) error {
	if s.prelude == nil {
		return s.write(chunk)
	}
	head, rest, done, err := s.prelude.add(chunk)
	if err != nil || !done {
		return err
	}
	a, err := parseMetadata(head)
	if err != nil {
		return err
	}
	s.prelude = nil
	header := s.w.Header()
	for name, values := range a.header {
		header[name] = values
	}
	s.w.WriteHeader(a.status)
	return s.write(rest)
}

func (s *streamer) write(chunk []byte) error {
	s.writing()
	if len(chunk) > 0 {
		if _, err := s.w.Write(chunk); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
			return errors.Join(errGone, err)
		}
	}
	if err := s.flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return errors.Join(errGone, err)
	}
	return nil
}
