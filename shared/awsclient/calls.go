package awsclient

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"devplatform/shared/clock"
)

// Service is an AWS service whose calls are counted. The value is the prefix of its fields in the log.
type Service string

// The services whose calls are counted.
const (
	DynamoDB Service = "dynamodb"
	S3       Service = "s3"
)

// callsKey is the key of the *calls of a service in a context.
type callsKey struct{ service Service }

type calls struct {
	number, nanoseconds atomic.Int64
	depth               atomic.Int64 // of the calls that have ended
}

// CountCalls returns a context that records the number, the duration and the depth of the calls made with it.
func CountCalls(ctx context.Context) context.Context {
	for _, service := range []Service{DynamoDB, S3} {
		ctx = context.WithValue(ctx, callsKey{service}, new(calls))
	}
	return ctx
}

// StartCall counts a call. The caller must call end when the SDK has returned. A call and its retries by the SDK count
// as one call. The time for reading the body of a streamed response does not count. StartCall does nothing if
// CountCalls did not return ctx.
func StartCall(ctx context.Context, service Service) (end func()) {
	c, ok := ctx.Value(callsKey{service}).(*calls)
	if !ok {
		return func() {}
	}
	c.number.Add(1)
	began, depth := clock.System(), c.depth.Load()+1
	return func() {
		c.nanoseconds.Add(int64(clock.System().Sub(began)))
		for {
			ended := c.depth.Load()
			if ended >= depth || c.depth.CompareAndSwap(ended, depth) {
				return
			}
		}
	}
}

// Depth returns the length of the longest chain of calls in which each began after the one before had ended, whether or
// not it needed the other's result. On AWS, the latency of a request is about its depth times the latency of a call. If
// CountCalls did not return ctx, Depth returns 0.
func Depth(ctx context.Context, service Service) int {
	c, ok := ctx.Value(callsKey{service}).(*calls)
	if !ok {
		return 0
	}
	return int(c.depth.Load())
}

// Calls returns the number of calls so far and the sum of their durations. Calls that ran in parallel count with their
// full durations. If CountCalls did not return ctx, both are 0.
func Calls(ctx context.Context, service Service) (number int, total time.Duration) {
	c, ok := ctx.Value(callsKey{service}).(*calls)
	if !ok {
		return 0, 0
	}
	return int(c.number.Load()), time.Duration(c.nanoseconds.Load())
}

// CallAttrs returns the attributes of a line of the log that describe the calls: dynamodbCalls, dynamodbDepth and
// dynamodbMs, and the same with the prefix s3 for requests that use S3.
func CallAttrs(ctx context.Context) []slog.Attr {
	var attrs []slog.Attr
	for _, service := range []Service{DynamoDB, S3} {
		number, total := Calls(ctx, service)
		if number == 0 && service != DynamoDB {
			continue
		}
		attrs = append(attrs, slog.Int(string(service)+"Calls", number),
			slog.Int(string(service)+"Depth", Depth(ctx, service)),
			slog.Float64(string(service)+"Ms", float64(total.Microseconds())/1000))
	}
	return attrs
}
