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

// Frames are the events of a stream as they arrive.
type Frames struct {
	Body   io.ReadCloser
	t      testing.TB
	reader *bufio.Reader
}

// Stream posts a body and answers the stream that comes of it. Anything but a stream fails the test.
func (c *Client) Stream(path, body string) *Frames {
	c.T.Helper()
	request, err := http.NewRequestWithContext(c.T.Context(), http.MethodPost, c.Base+path, strings.NewReader(body))
	if err != nil {
		c.T.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	noteBody([]byte(body))
	response, err := c.HTTP.Do(request)
	if err != nil {
		c.T.Fatal(err)
	}
	c.T.Cleanup(func() { _ = response.Body.Close() })
	h := response.Header
	if response.StatusCode != http.StatusOK || h.Get("Content-Type") != "text/event-stream" || h.Get("X-Vercel-Ai-Ui-Message-Stream") != "v1" || h.Get("X-Request-Id") == "" || h.Get("Cache-Control") != "no-store" {
		c.T.Fatalf("%d %v", response.StatusCode, h)
	}
	return &Frames{response.Body, c.T, bufio.NewReader(response.Body)}
}

// Next is the next frame, "[DONE]" as {"type":"[DONE]"}; nil at the end.
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
			f.t.Fatalf("%s: %v", data, err)
		}
		return frame
	}
}

// Until reads on to a frame of that type.
func (f *Frames) Until(kind string) map[string]any {
	f.t.Helper()
	for {
		frame := f.Next()
		if frame == nil {
			f.t.Fatalf("the stream ended before %s", kind)
		}
		if frame["type"] == kind {
			return frame
		}
	}
}

// Types are the types of all frames that are left.
func (f *Frames) Types() []string {
	f.t.Helper()
	var all []string
	for frame := f.Next(); frame != nil; frame = f.Next() {
		all = append(all, fmt.Sprint(frame["type"]))
	}
	return all
}
