package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"devplatform/infra/bench/rig"
)

const (
	// pieces are those of a stream of known time, pieceGap what lies between two.
	pieces   = 500
	pieceGap = 5 * time.Millisecond
)

// heard is one answer as its client had it.
type heard struct {
	first, last time.Duration // since the request
	gaps        rig.Sample    // between what the model sent and what arrived, of each piece that says when it was sent
}

// listen reads a stream of server-sent events to its end. Pieces of text that are numbers are the moments at which they were sent.
func listen(ctx context.Context, url, cookie string, body []byte) (heard, error) {
	var h heard
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return h, fmt.Errorf("request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Cookie", cookie)
	begin := time.Now()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return h, fmt.Errorf("send: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewReaderSize(response.Body, 1<<20)
	for {
		line, err := lines.ReadSlice('\n')
		now := time.Now()
		if h.first == 0 && len(line) > 1 {
			h.first = now.Sub(begin)
		}
		if sent, ok := moment(line); ok {
			h.gaps = append(h.gaps, now.Sub(sent))
		}
		h.last = now.Sub(begin)
		if err != nil {
			if response.StatusCode != http.StatusOK || err != io.EOF {
				return h, fmt.Errorf("%s: %s, %w", url, response.Status, err)
			}
			return h, nil
		}
	}
}

// moment finds the number of 19 digits in a line, nanoseconds since 1970, behind which a piece of text begins.
func moment(line []byte) (time.Time, bool) {
	at := bytes.Index(line, []byte(`"@`))
	if at < 0 || len(line) < at+21 {
		return time.Time{}, false
	}
	nanos, err := strconv.ParseInt(string(line[at+2:at+21]), 10, 64)
	return time.Unix(0, nanos), err == nil
}

// speak is a model whose time is known: as many pieces as the question asks for, one every pieceGap, each with the moment of its making.
func speak(w http.ResponseWriter, r *http.Request) {
	said, _ := io.ReadAll(r.Body)
	n := 1
	if at := bytes.LastIndex(said, []byte("pieces:")); at >= 0 {
		n, _ = strconv.Atoi(strings.FieldsFunc(string(said[at+7:]), func(c rune) bool { return c < '0' || c > '9' })[0])
	}
	flush := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	begin := time.Now()
	for i := range n {
		if wait := time.Until(begin.Add(time.Duration(i) * pieceGap)); wait > 0 {
			time.Sleep(wait)
		}
		_, _ = fmt.Fprintf(w, `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{"content":"@%d of it "},"finish_reason":null}]}`+"\n\n", time.Now().UnixNano())
		_ = flush.Flush()
	}
	_, _ = fmt.Fprint(w, `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n"+
		`data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"bench","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20}}`+"\n\ndata: [DONE]\n\n")
}
