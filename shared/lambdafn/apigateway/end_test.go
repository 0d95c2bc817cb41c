package apigateway_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/lambdafn/apigateway"
)

// A buffered and a streamed response end after the work beside their request, because Lambda then freezes the process.
// The context of the handler ends before the time limit of the function, and not when a streamed response starts.
func TestResponsesEndAfterTheWorkBesideThem(t *testing.T) {
	t.Parallel()
	payload, err := json.Marshal(streamRequest())
	if err != nil {
		t.Fatal(err)
	}
	for name, serve := range map[string]func(context.Context, *testing.T, http.Handler) error{
		"buffered": func(ctx context.Context, _ *testing.T, handler http.Handler) error {
			_, err := apigateway.New(handler).Invoke(ctx, payload)
			return err
		},
		"streamed": func(ctx context.Context, t *testing.T, handler http.Handler) error {
			t.Helper()
			response, err := apigateway.NewStream(handler, apigateway.Unbounded)(ctx, payload)
			if err == nil {
				_, err = io.ReadAll(response.Body)
			}
			if response.StatusCode != 200 || len(response.MultiValueHeaders) > 0 {
				t.Errorf("got %d with the headers %v, want 200 without headers", response.StatusCode, response.MultiValueHeaders)
			}
			return err
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			work, ended := make(chan struct{}), make(chan error, 1)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			go func() {
				ended <- serve(ctx, t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_ = http.NewResponseController(w).Flush()
					w.Header().Set("X-Late", "1")
					limit, _ := ctx.Deadline()
					if own, ok := r.Context().Deadline(); !ok || limit.Sub(own) < 100*time.Millisecond || r.Context().Err() != nil {
						t.Errorf("%s: the context ends %v before the time limit, want 100 ms or more", name, limit.Sub(own))
					}
					async.EndAfter(r.Context(), work)
					_, _ = w.Write([]byte("body"))
				}))
			}()
			synctest.Wait()
			if len(ended) > 0 {
				t.Errorf("%s: the response ended before the work", name)
			}
			close(work)
			if err := <-ended; err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
