package platformtest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Frames reads the frames of an event stream as they arrive.
type Frames struct {
	Body   io.ReadCloser
	t      testing.TB
	reader *bufio.Reader
}

// Stream sends a POST request and returns the frames of the response. It stops the test unless the response is an event
// stream with the headers of the UI message stream protocol.
func (c *Client) Stream(path, body string) *Frames {
	c.T.Helper()
	request, err := http.NewRequestWithContext(c.T.Context(), http.MethodPost, c.Base+path, strings.NewReader(body))
	if err != nil {
		c.T.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	addBodySecrets([]byte(body))
	response, err := c.HTTP.Do(request)
	if err != nil {
		c.T.Fatal(err)
	}
	c.T.Cleanup(func() { _ = response.Body.Close() })
	header := response.Header
	if response.StatusCode != http.StatusOK ||
		header.Get("Content-Type") != "text/event-stream" ||
		header.Get("X-Vercel-Ai-Ui-Message-Stream") != "v1" ||
		header.Get("X-Request-Id") == "" ||
		header.Get("Cache-Control") != "no-store" {
		c.T.Fatalf("POST %s: got status %d with header %v, want an event stream", path, response.StatusCode, header)
	}
	return &Frames{Body: response.Body, t: c.T, reader: bufio.NewReader(response.Body)}
}

// Next returns the next frame, or nil at the end of the stream. It returns the frame [DONE] as {"type":"[DONE]"}.
func (f *Frames) Next() map[string]any {
	f.t.Helper()
	for {
		line, err := f.reader.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			f.t.Fatal(err)
		}
		data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			return map[string]any{"type": data}
		}
		frame := map[string]any{}
		if err := json.Unmarshal([]byte(data), &frame); err != nil {
			f.t.Fatalf("the frame %s is not a JSON object: %v", data, err)
		}
		return frame
	}
}

// Until reads up to the next frame of that type and returns it.
func (f *Frames) Until(kind string) map[string]any {
	f.t.Helper()
	for {
		frame := f.Next()
		if frame == nil {
			f.t.Fatalf("the stream ended before a frame of type %s", kind)
		}
		if frame["type"] == kind {
			return frame
		}
	}
}

// Types reads the rest of the stream and returns the types of its frames.
func (f *Frames) Types() []string {
	f.t.Helper()
	var types []string
	for frame := f.Next(); frame != nil; frame = f.Next() {
		types = append(types, fmt.Sprint(frame["type"]))
	}
	return types
}
