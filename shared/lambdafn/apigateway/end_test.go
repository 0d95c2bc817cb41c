package apigateway_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

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
	work := make(chan struct{})
	served := make(chan struct{}, 2)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		async.EndAfter(r.Context(), work)
		_, _ = w.Write([]byte("body"))
		if err := http.NewResponseController(w).Flush(); err != nil {
			_, _ = w.Write([]byte("buffered"))
		}
		served <- struct{}{}
	})
	ended := make(chan error, 2)
	go func() {
		_, err := apigateway.New(handler).Invoke(t.Context(), payload)
		ended <- err
	}()
	go func() {
		response, err := apigateway.NewStream(handler)(t.Context(), payload)
		if err == nil {
			_, err = io.ReadAll(response.Body)
		}
		ended <- err
	}()
	<-served
	<-served
	select {
	case err := <-ended:
		t.Fatalf("a response ended before the work, with the error %v", err)
	default:
	}
	close(work)
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
