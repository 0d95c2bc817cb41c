package db

import (
	"context"
	"sync/atomic"
)

type callsKey struct{}

// CountCalls hands out a context under which every call to DynamoDB is counted; the SDK's own repetitions are not.
// The request log shows the number, and tests hold by it what each request may cost.
func CountCalls(ctx context.Context) context.Context {
	return context.WithValue(ctx, callsKey{}, new(atomic.Int64))
}

// Calls is the number of calls made so far under a context of CountCalls, 0 under any other.
func Calls(ctx context.Context) int {
	if n, ok := ctx.Value(callsKey{}).(*atomic.Int64); ok {
		return int(n.Load())
	}
	return 0
}

func countCall(ctx context.Context) {
	if n, ok := ctx.Value(callsKey{}).(*atomic.Int64); ok {
		n.Add(1)
	}
}
