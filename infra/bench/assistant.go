package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"devplatform/infra/bench/rig"
)

const (
	pieceGap   = 5 * time.Millisecond
	pieces     = 500
	nanoDigits = 19 // digits of the current time in nanoseconds since 1970
)

// question returns the body of a request for n pieces, which both the platform and the model accept.
func question(project string, n int) rig.Object {
	text := fmt.Sprintf("pieces:%d", n)
	return rig.Object{
		"projectId": project, "message": text, "messages": []map[string]string{{"role": "user", "content": text}},
	}
}

// assistant measures the time that the platform adds to the answers of a fake model.
func (b *bench) assistant(ctx context.Context) error {
	model := httptest.NewServer(http.HandlerFunc(serveModel))
	defer model.Close()
	p, err := b.platform(ctx, "assistant", "AI_PROVIDER=openai", "AI_MODEL=bench", "OPENAI_BASE_URL="+model.URL+"/v1",
		fmt.Sprintf("LAMBDA_CONCURRENCY=%d", 2*clients))
	if err != nil {
		return err
	}
	defer p.Stop()
	account, err := rig.SignUp(ctx, p.URL)
	if err != nil {
		return err
	}
	chatURL := p.URL + "/api/ai/chat/stream"
	if err := oneAnswer(ctx, account, model.URL, chatURL); err != nil {
		return err
	}
	return manyAnswers(ctx, p.URL, model.URL, chatURL)
}

// oneAnswer compares answers of one piece: from the model, and through the platform in small and large projects.
func oneAnswer(ctx context.Context, account *rig.Client, modelURL, chatURL string) error {
	section("AN ANSWER OF ONE PIECE (1 connection; goal for a piece: 5 ms)", "whole: p50", "p99", "piece: p50", "p99")
	projects, err := account.Projects(2)
	if err != nil {
		return err
	}
	for i, files := range []int{10, manyFiles} {
		if err := account.Fill(projects[i], files); err != nil {
			return err
		}
	}
	for _, from := range []struct{ name, url, project string }{
		{"the model itself", modelURL, ""}, {"a chat about 10 files", chatURL, projects[0]},
		{fmt.Sprintf("a chat about %d files", manyFiles), chatURL, projects[1]},
	} {
		whole, piece := newTimes(), newTimes()
		for end := time.Now().Add(loadTime); time.Now().Before(end); {
			a, err := ask(ctx, from.url, account, question(from.project, 1))
			if err != nil {
				return err
			}
			record(whole, a.took)
			piece.Merge(a.pieces)
		}
		row(from.name, at(whole, 50), at(whole, 99), at(piece, 50), at(piece, 99))
	}
	return nil
}

// manyAnswers reads concurrent streams of many pieces.
func manyAnswers(ctx context.Context, platformURL, modelURL, chatURL string) error {
	section(fmt.Sprintf("%d ANSWERS AT ONCE of %d pieces, one every %v (goal: at most 2 %% slower than the model)", clients,
		pieces, pieceGap), "pieces/s", "piece: p50", "p99", "slower")
	accounts, err := parallel(clients, func(int) (*rig.Client, error) { return rig.SignUp(ctx, platformURL) })
	if err != nil {
		return err
	}
	projects, err := parallel(clients, func(n int) ([]string, error) { return accounts[n].Projects(1) })
	if err != nil {
		return err
	}
	read := func(url string, pieces int) ([]answer, error) {
		return parallel(clients, func(n int) (answer, error) {
			return ask(ctx, url, accounts[n], question(projects[n][0], pieces))
		})
	}
	// The first request of each client starts a function.
	if _, err := read(chatURL, 1); err != nil {
		return err
	}
	modelRate := 0.0
	for _, from := range []struct{ name, url string }{{"the model itself", modelURL}, {"through the platform", chatURL}} {
		all, err := read(from.url, pieces)
		if err != nil {
			return err
		}
		times, slowest := newTimes(), time.Duration(0)
		for _, a := range all {
			times.Merge(a.pieces)
			slowest = max(slowest, a.took)
		}
		rate := float64(pieces-1) / slowest.Seconds() // the first piece has no gap before it
		if from.url == modelURL {
			modelRate = rate
		}
		row(from.name, rate, at(times, 50), at(times, 99), fmt.Sprintf("%.1f %%", 100*(1-rate/modelRate)))
	}
	return nil
}

// serveModel is a fake model with the API of OpenAI. It answers "pieces:N" with N pieces, one every pieceGap. Each
// piece contains the time at which it was sent, in nanoseconds.
func serveModel(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	n := 1
	if at := bytes.LastIndex(body, []byte("pieces:")); at >= 0 {
		_, _ = fmt.Sscan(string(body[at+len("pieces:"):]), &n) // Sscan stops at the first byte that is not a digit
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(choices, rest string) {
		_, _ = fmt.Fprintf(w, `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"bench",`+
			`"choices":[%s]%s}`+"\n\n", choices, rest)
		_ = http.NewResponseController(w).Flush()
	}
	begin := time.Now()
	for i := range n {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * pieceGap)))
		send(fmt.Sprintf(`{"index":0,"delta":{"content":"@%d of it "},"finish_reason":null}`, time.Now().UnixNano()), "")
	}
	send(`{"index":0,"delta":{},"finish_reason":"stop"}`, "")
	send("", `,"usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20}`)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// answer is an answer as its client received it.
type answer struct {
	took   time.Duration
	pieces *hdr.Histogram // for each piece, the time from the model to the client
}

// ask sends a question, and reads the answer to its end.
func ask(ctx context.Context, url string, c *rig.Client, fields rig.Object) (answer, error) {
	a := answer{pieces: newTimes()}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(rig.Encode(fields)))
	if err != nil {
		return a, fmt.Errorf("request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Cookie", c.Cookie)
	begin := time.Now()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return a, fmt.Errorf("send: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return a, fmt.Errorf("%s: %s", url, response.Status)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		now := time.Now()
		if _, rest, found := strings.Cut(lines.Text(), `"@`); found && len(rest) > nanoDigits {
			if nanos, err := strconv.ParseInt(rest[:nanoDigits], 10, 64); err == nil {
				record(a.pieces, now.Sub(time.Unix(0, nanos)))
			}
		}
	}
	a.took = time.Since(begin)
	return a, lines.Err()
}
