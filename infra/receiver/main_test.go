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

// post sends an event that is signed with the secret, and returns the status. It waits until the receiver listens.
func post(t *testing.T, address, secret string) int {
	t.Helper()
	const body = `{"id":"evt_1"}`
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	for {
		url := "http://" + address + "/hook"
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Service-Event", "file.created")
		request.Header.Set("X-Service-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			continue // the receiver does not listen yet
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
}

// The receiver accepts only requests with a valid signature, and exits after the given number of events.
func TestReceiver(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String() // a free port
	_ = listener.Close()
	var output bytes.Buffer
	result := make(chan error, 1)
	go func() { result <- serve(t.Context(), address, "secret", 2, &output) }()
	for _, tc := range []struct {
		secret string
		want   int
	}{
		{"another secret", http.StatusUnauthorized},
		{"secret", http.StatusNoContent},
		{"secret", http.StatusNoContent},
	} {
		if got := post(t, address, tc.secret); got != tc.want {
			t.Errorf("signed with %q: got status %d, want %d", tc.secret, got, tc.want)
		}
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
	want := "listening at http://" + address + "\n" +
		"not signed with this secret: POST /hook\n" +
		"file.created {\"id\":\"evt_1\"}\n" +
		"file.created {\"id\":\"evt_1\"}\n"
	if got := output.String(); got != want {
		t.Errorf("got output %q, want %q", got, want)
	}
}
