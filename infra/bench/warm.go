package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	"devplatform/infra/bench/rig"
	"devplatform/infra/local/runtime"
)

const (
	warmTime = 2 * time.Second
	// warmAim is what the whole local platform shall serve on 2 cores at 16 connections.
	warmAim = 2000
)

// warm measures GET /api/auth/me through the platform as a process of its own: gateway, runtime, function, DynamoDB.
// The load generator shares the machine.
func (b *bench) warm(ctx context.Context) error {
	url, err := b.shared(ctx)
	if err != nil {
		return err
	}
	account, err := rig.SignUp(ctx, url)
	if err != nil {
		return err
	}
	b.section("GET /api/auth/me through the whole local platform, by the number of connections", "requests/s", "p50", "p99")
	for _, connections := range []int{1, 16, 64} {
		result, err := b.me(ctx, account, connections)
		if err != nil {
			return err
		}
		values := []any{result.PerSecond, result.Latency.At(0.5), result.Latency.At(0.99)}
		if connections == 16 {
			values = append(values, fmt.Sprintf("  aim: %d/s", warmAim))
		}
		b.row(plural(connections, "connection"), values...)
	}
	return b.shares(ctx)
}

// me sends the request over a number of kept-alive connections at once.
func (b *bench) me(ctx context.Context, account *rig.Account, connections int) (rig.Load, error) {
	open := make([]*rig.Connection, connections)
	for i := range open {
		c, err := account.Dial(ctx)
		if err != nil {
			return rig.Load{}, err
		}
		defer c.Close()
		if err := c.Me(); err != nil {
			return rig.Load{}, fmt.Errorf("connection %d: %w", i, err)
		}
		open[i] = c
	}
	return rig.Drive(connections, warmTime, func(client int) error { return open[client].Me() })
}

// timed sums the time spent in one part and counts its calls.
type timed struct{ nanos, calls atomic.Int64 }

func (t *timed) add(took time.Duration) {
	t.nanos.Add(int64(took))
	t.calls.Add(1)
}

func (t *timed) reset() { t.nanos.Store(0); t.calls.Store(0) }

// per is the time per unit of work, of which there were n.
func (t *timed) per(n int) time.Duration { return time.Duration(t.nanos.Load() / int64(max(n, 1))) }

// shares tells where the time of one request goes: the same parts as in the platform, assembled here with a watch at
// each seam, and one client, so that nothing waits for anything else.
func (b *bench) shares(ctx context.Context) error {
	empty, err := b.emptyFunction(ctx)
	if err != nil {
		return err
	}
	var storage, invoked timed
	parts, err := rig.Assemble(ctx, b.binaries, filepath.Join(b.scratch, "shares"), empty, rig.Watch{
		Storage: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer func(begin time.Time) { storage.add(time.Since(begin)) }(time.Now())
				next.ServeHTTP(w, r)
			})
		},
		Invoked: func(_ string, _ int, took time.Duration) { invoked.add(took) },
	})
	if err != nil {
		return err
	}
	defer parts.Close()
	account, err := rig.SignUp(ctx, parts.URL)
	if err != nil {
		return err
	}
	if _, err := b.me(ctx, account, 1); err != nil { // warm
		return err
	}
	storage.reset()
	invoked.reset()
	load, err := b.me(ctx, account, 1)
	if err != nil {
		return err
	}
	requests := int(invoked.calls.Load())
	handled, stored := invoked.per(requests), storage.per(requests)
	hop, err := rig.Drive(1, warmTime/2, func(int) error {
		response, err := parts.Invoke(ctx, runtime.Invocation{Function: rig.Empty, Payload: []byte("{}")})
		if err != nil {
			return err
		}
		return response.Body.Close()
	})
	if err != nil {
		return err
	}
	b.printShares(load.Latency.Mean(), handled, hop.Latency.Mean(), stored)
	return nil
}

// printShares splits the time of a request. The runtime's part is what an empty function costs; the handler's is what
// the function takes beyond that, its DynamoDB client and the way to storage included.
func (b *bench) printShares(whole, invoked, hop, storage time.Duration) {
	b.section("WHERE THE TIME OF ONE GOES (1 connection)", "mean", "share")
	for _, part := range []struct {
		name string
		took time.Duration
	}{
		{"gateway, client's HTTP included", whole - invoked},
		{"runtime (an empty function)", hop},
		{"handler, with its DynamoDB client", invoked - hop - storage},
		{"storage", storage},
		{"whole", whole},
	} {
		b.row(part.name, part.took, percent(float64(part.took), float64(whole)))
	}
}
