package platform

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

func TestInProcess(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: inProcess{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Host", r.Host)
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write(append([]byte("got "), body...))
	})}}
	for body, content := range map[string]io.Reader{"": nil, "text": strings.NewReader("text")} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost:4566/path", content)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = "" // as in requests of the SDK
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		if err != nil || string(got) != "got "+body || response.Status != "202 Accepted" {
			t.Errorf("got status %q with body %q, error %v", response.Status, got, err)
		}
		if host := response.Header.Get("X-Host"); host != "localhost:4566" {
			t.Errorf("got the host %q", host)
		}
		_ = response.Body.Close()
	}
}

// A canceled request gets a response that the handler sends now. It does not wait for a handler that is blocked, so the
// platform can stop while the disk is full.
func TestInProcessCanceled(t *testing.T) {
	t.Parallel()
	for name, isBlocked := range map[string]bool{"responds": false, "blocked": true} {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			transport := inProcess{http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				<-r.Context().Done()
				if isBlocked {
					<-release
				}
			})}
			ctx, cancel := context.WithCancel(t.Context())
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost:4566/", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			cancel()
			response, err := transport.RoundTrip(request)
			if isBlocked != errors.Is(err, context.Canceled) {
				t.Errorf("%s: got the error %v", name, err)
			}
			if err == nil {
				_ = response.Body.Close()
			}
			close(release)
		})
	}
}
