package slicetest

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
)

// Log keeps what is logged, and reads off the request log how many calls to DynamoDB each request has made.
type Log struct {
	slog.Handler

	mu    sync.Mutex
	calls map[string]int64
	text  bytes.Buffer
}

// NewLog makes an empty log: the handler of a logger.
func NewLog() *Log {
	l := &Log{calls: map[string]int64{}}
	l.Handler = slog.NewTextHandler(l, nil)
	return l
}

// Write takes a line as text.
func (l *Log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(line) // a buffer takes everything
	return len(line), nil
}

// Handle takes a record.
func (l *Log) Handle(ctx context.Context, r slog.Record) error {
	var requestID string
	calls := int64(-1)
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "requestId":
			requestID = a.Value.String()
		case "dynamodbCalls":
			calls = a.Value.Int64()
		}
		return true
	})
	if calls >= 0 {
		l.mu.Lock()
		l.calls[requestID] = calls
		l.mu.Unlock()
	}
	return l.Handler.Handle(ctx, r) //nolint:wrapcheck // it is a buffer that cannot fail
}

// Calls is how many calls to DynamoDB a request has made.
func (l *Log) Calls(requestID string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[requestID]
}

// String is the whole log as text, level=INFO and above.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
