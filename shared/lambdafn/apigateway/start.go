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

// StartStreaming serves the events of an API Gateway integration whose transfer mode is STREAM (see NewStream). It does
// not return (see lambdafn.Start).
func StartStreaming[Settings any](build Build[Settings], maxUnread int) {
	lambdafn.Start(func(s Settings, now clock.Clock, logger *slog.Logger) (StreamFunction, error) {
		handler, err := build(s, now, logger)
		return NewStream(handler, maxUnread), err
	})
}
