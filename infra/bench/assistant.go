package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"time"

	"devplatform/infra/bench/rig"
)

const (
	// assistantTime is how long each kind of call is measured.
	assistantTime = 1500 * time.Millisecond
	// pieceAim is how soon after the model said it a client shall have a piece of an answer.
	pieceAim = 5 * time.Millisecond
	// streams is how many streams are read at once, lossAim how much slower than the model's the slowest may be.
	streams = 16
	lossAim = "2 %"
)

// assistant measures the assistant through the platform as a process of its own: with the built-in generator, and what it adds to a
// model whose own time is known.
func (b *bench) assistant(ctx context.Context) error {
	if err := b.scaffold(ctx); err != nil {
		return err
	}
	model := httptest.NewServer(http.HandlerFunc(speak))
	defer model.Close()
	p, err := rig.Start(ctx, b.binaries, filepath.Join(b.scratch, "assistant"),
		"AI_PROVIDER=openai", "AI_MODEL=bench", "OPENAI_BASE_URL="+model.URL+"/v1", fmt.Sprintf("LAMBDA_CONCURRENCY=%d", 2*streams))
	if err != nil {
		return err
	}
	defer p.Stop()
	if err := b.overhead(ctx, p.URL, model.URL); err != nil {
		return err
	}
	return b.throughput(ctx, p.URL, model.URL)
}

// scaffold measures chat and stream with the built-in generator, in a project with few files and in one with very many.
func (b *bench) scaffold(ctx context.Context) error {
	url, err := b.shared(ctx)
	if err != nil {
		return err
	}
	small, err := rig.NewWorkshop(ctx, url, 1)
	if err != nil {
		return err
	}
	defer small.Close()
	if err := small.Fill(small.Projects[0], 0, 10); err != nil {
		return err
	}
	big, err := b.bigProject(ctx)
	if err != nil {
		return err
	}
	b.section("THE ASSISTANT with the built-in generator, through the whole local platform (1 connection)", "first: p50", "p99", "whole: p50", "p99")
	for _, call := range []struct {
		name, path string
		in         *rig.Workshop
	}{
		{"chat, 10 files", "/api/ai/chat", small},
		{"stream, 10 files", "/api/ai/chat/stream", small},
		{fmt.Sprintf("stream, %d files", bigFiles), "/api/ai/chat/stream", big},
	} {
		body := rig.Encode(map[string]any{"projectId": call.in.Projects[0], "message": "Create a table of invoices with number, date and total."})
		if _, err := listen(ctx, url+call.path, call.in.Account.Cookie, body); err != nil { // its function starts
			return err
		}
		var first, whole rig.Sample
		for end := time.Now().Add(assistantTime); time.Now().Before(end); {
			h, err := listen(ctx, url+call.path, call.in.Account.Cookie, body)
			if err != nil {
				return err
			}
			first, whole = append(first, h.first), append(whole, h.last)
		}
		b.row(call.name, first.At(0.5), first.At(0.99), whole.At(0.5), whole.At(0.99))
	}
	return nil
}

// overhead compares answers of one piece, had from the model itself and through the platform.
func (b *bench) overhead(ctx context.Context, url, model string) error {
	w, err := rig.NewWorkshop(ctx, url, 1)
	if err != nil {
		return err
	}
	defer w.Close()
	const question = "pieces:1"
	direct := rig.Encode(map[string]any{"messages": []map[string]string{{"role": "user", "content": question}}})
	asked := rig.Encode(map[string]any{"projectId": w.Projects[0], "message": question})
	if _, err := listen(ctx, url+"/api/ai/chat/stream", w.Account.Cookie, asked); err != nil { // its function starts
		return err
	}
	var took [3]rig.Sample
	var piece rig.Sample
	for end := time.Now().Add(2 * assistantTime); time.Now().Before(end); {
		for i, call := range []struct {
			url  string
			body []byte
		}{{model, direct}, {url + "/api/ai/chat/stream", asked}, {url + "/api/ai/generate", rig.Encode(map[string]any{"prompt": question})}} {
			h, err := listen(ctx, call.url, w.Account.Cookie, call.body)
			if err != nil {
				return err
			}
			took[i] = append(took[i], h.last)
			if i == 1 {
				piece = append(piece, h.gaps...)
			}
		}
	}
	b.section("WHAT IS ADDED to a model whose own time is known (1 connection, its whole answer at once)", "whole: p50", "p99")
	for i, name := range []string{"the model itself", "chat, streamed", "generate"} {
		b.row(name, took[i].At(0.5), took[i].At(0.99))
	}
	b.row("a piece, from model to client", piece.At(0.5), piece.At(0.99), "  aim: "+ms(pieceAim))
	return nil
}

// throughput reads streams of 200 pieces a second, sixteen at once, from the model itself and through the platform.
func (b *bench) throughput(ctx context.Context, url, model string) error {
	question := fmt.Sprintf("pieces:%d", pieces)
	direct := rig.Encode(map[string]any{"messages": []map[string]string{{"role": "user", "content": question}}})
	readers, err := rig.Together(streams, func(int) (func() (heard, error), error) {
		w, err := rig.NewWorkshop(ctx, url, 1)
		if err != nil {
			return nil, err
		}
		w.Close()
		read := func(question string) (heard, error) {
			return listen(ctx, url+"/api/ai/chat/stream", w.Account.Cookie, rig.Encode(map[string]any{"projectId": w.Projects[0], "message": question}))
		}
		if _, err := read("pieces:1"); err != nil { // its function is warm
			return nil, err
		}
		return func() (heard, error) { return read(question) }, nil
	})
	if err != nil {
		return err
	}
	b.section(fmt.Sprintf("%d STREAMS AT ONCE of %d pieces, one every %s", streams, pieces, ms(pieceGap)), "pieces/s", "piece: p50", "p99")
	var rates [2]float64
	for i, name := range []string{"the model itself", "through the platform"} {
		all, err := rig.Together(streams, func(n int) (heard, error) {
			if i == 0 {
				return listen(ctx, model, "", direct)
			}
			return readers[n]()
		})
		if err != nil {
			return err
		}
		var gaps rig.Sample
		var slowest time.Duration
		for _, h := range all {
			gaps = append(gaps, h.gaps...)
			slowest = max(slowest, h.last-h.first)
		}
		rates[i] = float64(pieces-1) / slowest.Seconds()
		b.row(name, rates[i], gaps.At(0.5), gaps.At(0.99))
	}
	b.row("lost, of the slowest stream", percent(rates[0]-rates[1], rates[0]), "  aim: "+lossAim)
	return nil
}
