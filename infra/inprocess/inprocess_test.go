package inprocess_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"devplatform/infra/inprocess"
)

// A call reaches the handler of a server of NewServer directly, and other servers through the network. If its context
// ends during the call, the handler has run and the response is lost.
func TestTransport(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	addresses := make(chan string, 1)
	handler := http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		addresses <- r.RemoteAddr // "" without a network
		if r.Method == http.MethodDelete {
			cancel()
		}
		_, _ = io.Copy(out, r.Body)
	})
	direct, stop := inprocess.NewServer(t, handler)
	remote := httptest.NewServer(handler)
	defer remote.Close()
	client := http.Client{Transport: inprocess.Transport}
	for _, url := range []string{direct, remote.URL} {
		response, err := client.Get(url)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("got %v, %v", response, err)
		}
		if isDirect := <-addresses == ""; isDirect != (url == direct) || isDirect != inprocess.Serves(url) {
			t.Errorf("the call of %s was direct: %t", url, isDirect)
		}
	}
	request, _ := http.NewRequestWithContext(ctx, http.MethodDelete, direct, nil)
	if _, err := client.Do(request); !errors.Is(err, context.Canceled) || len(addresses) != 1 {
		t.Errorf("got error %v after %d calls", err, len(addresses))
	}
	if stop(); inprocess.Serves(direct) {
		t.Error("the server was not stopped")
	}
}
