package slicetest

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
)

// Log is a slog.Handler that keeps the log as text, and records the DynamoDB calls that the request log reports
// for each request.
type Log struct {
	slog.Handler

	mu    sync.Mutex
	calls map[string]Calls // by request ID
	text  bytes.Buffer
}

// Calls are the DynamoDB calls of a request.
type Calls struct {
	Number int64
	Depth  int64 // the length of the longest chain of calls, see awsclient.Depth
}

// NewLog returns an empty log.
func NewLog() *Log {
	l := &Log{calls: map[string]Calls{}}
	l.Handler = slog.NewTextHandler(l, nil)
	return l
}

// Write implements io.Writer for the text handler.
func (l *Log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// Handle implements slog.Handler.
func (l *Log) Handle(ctx context.Context, r slog.Record) error {
	var requestID string
	calls := Calls{Number: -1}
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "requestId":
			requestID = a.Value.String()
		case "dynamodbCalls":
			calls.Number = a.Value.Int64()
		case "dynamodbDepth":
			calls.Depth = a.Value.Int64()
		}
		return true
	})
	if calls.Number >= 0 {
		l.mu.Lock()
		l.calls[requestID] = calls
		l.mu.Unlock()
	}
	return l.Handler.Handle(ctx, r) //nolint:wrapcheck // writing to a buffer does not fail
}

// Calls returns the DynamoDB calls of a request, or none if the log has no line of the request.
func (l *Log) Calls(requestID string) Calls {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[requestID]
}

// String returns the log as text. It contains the levels INFO and above.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
