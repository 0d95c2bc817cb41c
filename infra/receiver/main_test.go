package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"strings"
	"testing"
)

// post sends an event that is signed with a secret, and answers the status.
func post(t *testing.T, address, secret string) int {
	t.Helper()
	const body = `{"id":"evt_1"}`
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	for {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/hook", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Service-Event", "file.created")
		request.Header.Set("X-Service-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			continue // it does not listen yet
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
}

func TestReceiverTakesWhatIsSignedAndEnds(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	var printed bytes.Buffer
	ended := make(chan error, 1)
	go func() { ended <- serve(t.Context(), address, "ours", 2, &printed) }()
	for _, step := range []struct {
		secret string
		status int
	}{{"theirs", http.StatusUnauthorized}, {"ours", http.StatusNoContent}, {"ours", http.StatusNoContent}} {
		if got := post(t, address, step.secret); got != step.status {
			t.Errorf("signed with %s: %d, want %d", step.secret, got, step.status)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	want := "listening at http://" + address + "\nnot signed with this secret: POST /hook\nfile.created {\"id\":\"evt_1\"}\nfile.created {\"id\":\"evt_1\"}\n"
	if printed.String() != want {
		t.Errorf("printed %q", printed.String())
	}
}
