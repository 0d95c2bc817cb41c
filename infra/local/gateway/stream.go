package gateway

import (
	"bytes"
	"errors"
	"fmt"
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
	delimiter  = make([]byte, 8)
	errPrelude = errors.New("the stream does not begin with metadata and a delimiter")
	errIdle    = errors.New("the stream paused for too long")
	errGone    = errors.New("the client has disconnected")
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
