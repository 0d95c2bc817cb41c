package apigateway_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"devplatform/shared/async"
	"devplatform/shared/lambdafn/apigateway"
)

// A buffered and a streamed response end after the work beside their request, because Lambda then freezes the process.
func TestResponsesEndAfterTheWorkBesideThem(t *testing.T) {
	t.Parallel()
	payload, err := json.Marshal(streamRequest())
	if err != nil {
		t.Fatal(err)
	}
	for name, serve := range map[string]func(*testing.T, http.Handler) error{
		"buffered": func(t *testing.T, handler http.Handler) error {
			t.Helper()
			_, err := apigateway.New(handler).Invoke(t.Context(), payload)
			return err
		},
		"streamed": func(t *testing.T, handler http.Handler) error {
			t.Helper()
			response, err := apigateway.NewStream(handler)(t.Context(), payload)
			if err == nil {
				_, err = io.ReadAll(response.Body)
			}
			return err
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			work, ended := make(chan struct{}), make(chan error, 1)
			go func() {
				ended <- serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
