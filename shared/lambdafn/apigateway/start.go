package apigateway

import (
	"log/slog"
	"net/http"

	"devplatform/shared/clock"
	"devplatform/shared/lambdafn"
)

// Build builds a function's HTTP handler from its settings.
type Build[Settings any] = func(Settings, clock.Clock, *slog.Logger) (http.Handler, error)

// Start serves the events of an API Gateway API with buffered responses. It does not return (see lambdafn.Start).
func Start[Settings any](build Build[Settings]) {
	lambdafn.Start(func(s Settings, now clock.Clock, logger *slog.Logger) (*Handler, error) {
		handler, err := build(s, now, logger)
		return New(handler), err
	})
}

// StartStreaming serves the events of an API Gateway integration whose transfer mode is STREAM. It does not return (see
// lambdafn.Start).
func StartStreaming[Settings any](build Build[Settings]) { startStream(build, NewStream) }

// maxUnread is the size of the buffer of StartBoundedStreaming.
const maxUnread = 256 << 10

// StartBoundedStreaming is like StartStreaming for large responses: a handler that writes faster than its client reads
// waits (see NewBoundedStream).
func StartBoundedStreaming[Settings any](build Build[Settings]) {
	startStream(build, func(handler http.Handler) StreamFunction { return NewBoundedStream(handler, maxUnread) })
}

func startStream[Settings any](build Build[Settings], stream func(http.Handler) StreamFunction) {
	lambdafn.Start(func(s Settings, now clock.Clock, logger *slog.Logger) (StreamFunction, error) {
		handler, err := build(s, now, logger)
		return stream(handler), err
	})
}
