package project

import (
	"context"
	"math/rand/v2"
	"time"
)

// maxAttempts is how often a write is decided anew when what it was decided on has changed meanwhile.
const maxAttempts = 20

// pause waits before the attempt-th repetition, counted from 1: up to 10 ms, doubled each time up to 320 ms. It is false if
// the context ended first.
func pause(ctx context.Context, attempt int) bool {
	step := 10 * time.Millisecond << min(attempt-1, 5)
	timer := time.NewTimer(rand.N(step)) //nolint:gosec // spreads writers out, guards nothing
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
