package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	// maxPrelude is the maximum number of bytes of the metadata and its delimiter.
	maxPrelude = 16 << 10
	// streamChunk is the maximum number of bytes of a write to the client.
	streamChunk = 32 << 10
	// defaultIdle is how long a stream of a regional API may pause.
	defaultIdle = 5 * time.Minute
)

var (
	delimiter  = make([]byte, 8) // after the metadata
	errPrelude = errors.New("the stream does not begin with metadata and a delimiter")
	errIdle    = errors.New("the stream paused for too long")
	errGone    = errors.New("the client has disconnected")
)

// metadata is at the beginning of a streamed response.
type metadata struct {
	head
	Cookies []string `json:"cookies"`
}

// parseMetadata decodes the metadata of a streamed response.
func parseMetadata(text []byte) (*httpResponse, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' {
		return nil, errPrelude
	}
	var m metadata
	if err := json.Unmarshal(text, &m, decodeOptions); err != nil {
		return nil, fmt.Errorf("metadata of the stream: %w", err)
	}
	parsed, err := m.response()
	if err == nil && len(m.Cookies) > 0 {
		err = setHeader(parsed.header, "Set-Cookie", m.Cookies)
	}
	if err != nil {
		return nil, fmt.Errorf("metadata of the stream: %w", err)
	}
	return parsed, nil
}

// streamer sends a streamed response to the client.
type streamer struct {
	*exchange
	end     time.Time // of the invocation: a client that does not read must not hold the connection longer
	prelude []byte    // the beginning of the stream, until the metadata is complete
	begun   bool      // the headers are sent
}

// take handles the next bytes of the response. It keeps them until the metadata is complete, and then sends them.
func (s *streamer) take(chunk []byte) error {
	if s.begun {
		return s.send(chunk)
	}
	s.prelude = append(s.prelude, chunk...)
	text, rest, found := bytes.Cut(s.prelude, delimiter)
	switch {
	case found && len(text)+len(delimiter) > maxPrelude, !found && len(text) >= maxPrelude:
		return errPrelude
	case !found:
		return nil
	}
	parsed, err := parseMetadata(text)
	if err != nil {
		return err
	}
	s.begun = true
	maps.Copy(s.Header(), parsed.header)
	s.WriteHeader(parsed.status)
	return s.send(rest)
}

func (s *streamer) send(chunk []byte) error {
	s.setWriteDeadline(s.end)
	if len(chunk) > 0 {
		if _, err := s.Write(chunk); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
			return errors.Join(errGone, err)
		}
	}
	if err := s.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return errors.Join(errGone, err)
	}
	return nil
}
