package platform

import (
	"io"
	"net/http"
	"strings"
	"testing"
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
