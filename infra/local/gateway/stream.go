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
	// maxPrelude is how far into the stream the metadata and its delimiter must have ended.
	maxPrelude = 16 << 10
	// streamChunk is the most that is passed on at once.
	streamChunk = 32 << 10
	// defaultIdle is how long a stream of a regional API may be silent.
	defaultIdle = 5 * time.Minute
)

var (
	delimiter   = make([]byte, 8)
	errPrelude  = errors.New("no metadata and delimiter at the start of the stream")
	errIdle     = errors.New("stream was silent for too long")
	errGone     = errors.New("client has gone")
	errDeadline = errors.New("stream took longer than the integration's time-out")
)

// metadata is what a streamed answer begins with.
type metadata struct {
	StatusCode        statusCode              `json:"statusCode"`
	Headers           map[string]headerValue  `json:"headers"`
	MultiValueHeaders map[string]headerValues `json:"multiValueHeaders"`
	Cookies           []string                `json:"cookies"`
}

// prelude collects the start of a stream until the metadata is there.
type prelude struct{ buffer []byte }

// add takes the next bytes of the stream. done tells that the delimiter was among them; head and rest are then the
// metadata and the first bytes of the body.
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

// parseMetadata reads the metadata of a streamed answer.
func parseMetadata(head []byte) (*answer, error) {
	head = bytes.TrimSpace(head)
	if len(head) == 0 || head[0] != '{' {
		return nil, errPrelude
	}
	var m metadata
	if err := json.Unmarshal(head, &m, decodeOptions); err != nil {
		return nil, fmt.Errorf("metadata of the stream: %w", err)
	}
	a := &answer{status: m.StatusCode.orOK(), header: make(http.Header, len(m.Headers)+len(m.MultiValueHeaders)+5)}
	if err := setHeaders(a.header, m.Headers, m.MultiValueHeaders); err != nil {
		return nil, fmt.Errorf("metadata of the stream: %w", err)
	}
	if err := setChecked(a.header, "Set-Cookie", m.Cookies); len(m.Cookies) > 0 && err != nil {
		return nil, fmt.Errorf("metadata of the stream: %w", err)
	}
	if len(a.header[headerContentType]) == 0 {
		a.header[headerContentType] = []string{jsonType}
	}
	return a, nil
}

// pump reads a function's answer in its own goroutine, so that whoever waits for it can stop waiting. A body that is closed
// early is drained by the runtime: as on AWS, a function whose client has gone is not interrupted.
type pump struct {
	chunks    chan []byte   // one at a time, the next once the last was taken
	taken     chan struct{} // the last chunk may be overwritten
	abandoned chan struct{}
	err       error // set when chunks is closed; nil at the end of the answer
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
		if n > 0 && !p.hand(buffer[:n]) {
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

func (p *pump) hand(chunk []byte) bool {
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

// each calls f with every chunk until the answer ends, f fails, a limit is reached or gone is closed. It is called once.
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

// streamer passes a streamed answer to the client.
type streamer struct {
	w       http.ResponseWriter
	flush   func() error
	prelude *prelude // nil once the headers are sent
	started func(status int)
	writing func() // called before each write
}

// take handles the next bytes of the answer: they are with the client when it returns.
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
	s.started(a.status)
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
