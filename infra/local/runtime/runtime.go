package runtime

import (
	"context"
	"net/http"
)

// Runtime runs functions. It is an http.Handler for Lambda's REST API.
type Runtime struct{}

// New checks the functions and returns a Runtime without any instance. The caller must Close it.
func New(Options) (*Runtime, error) { return &Runtime{}, nil }

// Invoke runs a function once and returns its answer; errors are ErrFunctionNotFound, ErrThrottled,
// ErrPayloadTooLarge, ErrClosed and the context's. ctx ending stops the waiting, never the function.
func (r *Runtime) Invoke(context.Context, Invocation) (*Response, error) {
	return nil, ErrFunctionNotFound
}

// Close takes no new requests, lets those in flight finish until ctx ends, and ends all processes.
func (r *Runtime) Close(context.Context) error { return nil }

// Snapshot lists the instances.
func (r *Runtime) Snapshot() []Instance { return nil }

// ServeHTTP answers Lambda's REST API.
func (r *Runtime) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNotFound)
}
