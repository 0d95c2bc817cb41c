package main

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"devplatform/infra/local/runtime"
)

// timed sums the time spent in one part and counts its calls.
type timed struct{ nanos, calls atomic.Int64 }

func (t *timed) since(begin time.Time) {
	t.nanos.Add(int64(time.Since(begin)))
	t.calls.Add(1)
}

func (t *timed) reset() { t.nanos.Store(0); t.calls.Store(0) }

// per is the time per unit of work, of which there were n.
func (t *timed) per(n int) time.Duration { return time.Duration(t.nanos.Load() / int64(max(n, 1))) }

// shares tells where the time of one request goes: the same parts as in the platform, assembled here with a watch at
// each seam, and one client, so that nothing waits for anything else.
func (b *bench) shares(ctx context.Context) error {
	var storage, invoked timed
	parts, err := b.assemble(ctx, "shares", &invoked, func(db http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer storage.since(time.Now())
			db.ServeHTTP(w, r)
		})
	})
	if err != nil {
		return err
	}
	defer parts.close()
	account, err := signUp(ctx, parts.url)
	if err != nil {
		return err
	}
	if _, err := account.load(ctx, 1); err != nil { // warm
		return err
	}
	storage.reset()
	invoked.reset()
	whole, err := account.load(ctx, 1)
	if err != nil {
		return err
	}
	requests := int(invoked.calls.Load())
	hop, err := drive(1, warmTime/2, func(int) error {
		response, err := parts.lambda.Invoke(ctx, runtime.Invocation{Function: emptyFunction, Payload: []byte("{}")})
		if err != nil {
			return err
		}
		return response.Body.Close()
	})
	if err != nil {
		return err
	}
	b.printShares(whole.mean(), invoked.per(requests), hop.mean(), storage.per(requests))
	return nil
}

// printShares splits the time of a request. The runtime's part is what an empty function costs; the handler's is what
// the function takes beyond that, its DynamoDB client and the way to storage included.
func (b *bench) printShares(whole, invoked, hop, storage time.Duration) {
	b.printf("\nWhere the time of one goes (1 connection, mean)\n")
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
		b.printf("%-36s %12s %6.0f %%\n", part.name, ms(part.took), 100*float64(part.took)/float64(whole))
	}
}
