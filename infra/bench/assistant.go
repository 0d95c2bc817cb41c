package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// assistantTime is how long each kind of call is measured.
	assistantTime = 2 * time.Second
	// chunks are those of a stream of known time, chunkGap what lies between two.
	chunks   = 1000
	chunkGap = 5 * time.Millisecond
	// streams is how many of them are read at once.
	streams = 16
)

// assistant measures the assistant through the platform as a process of its own: with the built-in generator, and what it adds to a
// model whose own time is known.
func (b *bench) assistant(ctx context.Context) error {
	if err := b.scaffold(ctx); err != nil {
		return err
	}
	model := httptest.NewServer(http.HandlerFunc(speak))
	defer model.Close()
	p, err := b.startPlatform(ctx, filepath.Join(b.scratch, "assistant-model"),
		"AI_PROVIDER=openai", "AI_MODEL=bench", "OPENAI_BASE_URL="+model.URL+"/v1", fmt.Sprintf("LAMBDA_CONCURRENCY=%d", 2*streams))
	if err != nil {
		return err
	}
	defer p.stop()
	if err := b.overhead(ctx, p.url, model.URL); err != nil {
		return err
	}
	return b.throughput(ctx, p.url, model.URL)
}

// heard is one answer as its client had it.
type heard struct {
	first, last time.Duration // since the request
	gaps        sample        // between what the model sent and what arrived, of each piece that says when it was sent
	bytes       int
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
		h.bytes += len(line)
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

// speak is a model whose time is known: as many pieces as the question asks for, one every chunkGap, each with the moment of its making.
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
		if wait := time.Until(begin.Add(time.Duration(i) * chunkGap)); wait > 0 {
			time.Sleep(wait)
		}
		_, _ = fmt.Fprintf(w, `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{"content":"@%d of it "},"finish_reason":null}]}`+"\n\n", time.Now().UnixNano())
		_ = flush.Flush()
	}
	_, _ = fmt.Fprint(w, `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n"+
		`data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"bench","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20}}`+"\n\ndata: [DONE]\n\n")
}

// scaffold measures chat and stream with the built-in generator.
func (b *bench) scaffold(ctx context.Context) error {
	p, err := b.startPlatform(ctx, filepath.Join(b.scratch, "assistant"))
	if err != nil {
		return err
	}
	defer p.stop()
	b.printf("\nThe assistant with the built-in generator, through the whole local platform (1 connection)\n")
	b.printf("%-32s %14s %12s %14s %12s\n", "", "first: p50", "p99", "whole: p50", "p99")
	for _, call := range []struct {
		name, path string
		files      int
	}{{"chat", "/api/ai/chat", 10}, {"stream", "/api/ai/chat/stream", 10}, {"stream, project of 5,000 files", "/api/ai/chat/stream", 5000}} {
		a, w, err := newWorkshop(ctx, p.url, 1)
		if err != nil {
			return err
		}
		for have := 0; have < call.files; {
			if have, err = w.fill(have, call.files); err != nil {
				return err
			}
		}
		body := encode(map[string]any{"projectId": w.projects[0], "message": "Create a table of invoices with number, date and total."})
		var first, whole sample
		for end := time.Now().Add(assistantTime); time.Now().Before(end); {
			h, err := listen(ctx, p.url+call.path, a.cookie, body)
			if err != nil {
				return err
			}
			first, whole = append(first, h.first), append(whole, h.last)
		}
		w.close()
		b.printf("%-32s %14s %12s %14s %12s\n", call.name, ms(first.at(0.5)), ms(first.at(0.99)), ms(whole.at(0.5)), ms(whole.at(0.99)))
	}
	return nil
}

// overhead compares answers of one piece, had from the model itself and through the platform.
func (b *bench) overhead(ctx context.Context, base, model string) error {
	a, w, err := newWorkshop(ctx, base, 1)
	if err != nil {
		return err
	}
	defer w.close()
	const question = "pieces:1"
	direct := encode(map[string]any{"messages": []map[string]string{{"role": "user", "content": question}}})
	asked := encode(map[string]any{"projectId": w.projects[0], "message": question})
	b.printf("\nWhat is added to a model whose own time is known (1 connection, its whole answer at once)\n")
	b.printf("%-32s %14s %12s\n", "", "whole: p50", "p99")
	var took [3]sample
	var piece sample
	for end := time.Now().Add(2 * assistantTime); time.Now().Before(end); {
		for i, call := range []struct {
			url  string
			body []byte
		}{{model, direct}, {base + "/api/ai/chat/stream", asked}, {base + "/api/ai/generate", encode(map[string]any{"prompt": question})}} {
			h, err := listen(ctx, call.url, a.cookie, call.body)
			if err != nil {
				return err
			}
			took[i] = append(took[i], h.last)
			if i == 1 {
				piece = append(piece, h.gaps...)
			}
		}
	}
	for i, name := range []string{"the model itself", "chat, streamed", "generate"} {
		b.printf("%-32s %14s %12s\n", name, ms(took[i].at(0.5)), ms(took[i].at(0.99)))
	}
	b.printf("%-32s %14s %12s   aim %s\n", "a piece, from model to client", ms(piece.at(0.5)), ms(piece.at(0.99)), ms(5*time.Millisecond))
	return nil
}

// throughput reads streams of 200 pieces a second, sixteen at once, from the model itself and through the platform.
func (b *bench) throughput(ctx context.Context, base, model string) error {
	question := fmt.Sprintf("pieces:%d", chunks)
	direct := encode(map[string]any{"messages": []map[string]string{{"role": "user", "content": question}}})
	var readers []func() (heard, error)
	for range streams {
		a, w, err := newWorkshop(ctx, base, 1)
		if err != nil {
			return err
		}
		w.close()
		asked := encode(map[string]any{"projectId": w.projects[0], "message": question})
		if _, err := listen(ctx, base+"/api/ai/chat/stream", a.cookie, encode(map[string]any{"projectId": w.projects[0], "message": "pieces:1"})); err != nil {
			return err
		}
		readers = append(readers, func() (heard, error) { return listen(ctx, base+"/api/ai/chat/stream", a.cookie, asked) })
	}
	b.printf("\n%d streams at once of %d pieces, one every %s\n", streams, chunks, ms(chunkGap))
	b.printf("%-32s %12s %16s %12s\n", "", "pieces/s", "a piece: p50", "p99")
	var rates [2]float64
	for i, name := range []string{"the model itself", "through the platform"} {
		all, err := together(streams, func(n int) (heard, error) {
			if i == 0 {
				return listen(ctx, model, "", direct)
			}
			return readers[n]()
		})
		if err != nil {
			return err
		}
		var gaps sample
		var slowest time.Duration
		for _, h := range all {
			gaps = append(gaps, h.gaps...)
			slowest = max(slowest, h.last-h.first)
		}
		rates[i] = float64(chunks-1) / slowest.Seconds()
		b.printf("%-32s %12.1f %16s %12s\n", name, rates[i], ms(gaps.at(0.5)), ms(gaps.at(0.99)))
	}
	b.printf("%-32s %11.2f%%   aim at most 2%%\n", "lost, of the slowest stream", 100*(1-rates[1]/rates[0]))
	return nil
}

// together does the same n times at once.
func together(n int, do func(n int) (heard, error)) ([]heard, error) {
	all, errs := make([]heard, n), make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { all[i], errs[i] = do(i) })
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
