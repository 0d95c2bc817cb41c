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

// freeAddress returns an address with a free port.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	return listener.Addr().String()
}

// The receiver accepts only requests with a valid signature, and exits after the given number of events.
func TestReceiver(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
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

// blocking is a writer that does not return from the write of a line that begins with prefix until released is closed.
type blocking struct {
	prefix            string
	blocked, released chan struct{}
}

func (b blocking) Write(line []byte) (int, error) {
	if bytes.HasPrefix(line, []byte(b.prefix)) {
		close(b.blocked)
		<-b.released
	}
	return len(line), nil
}

// After the last event, the receiver does not exit before the requests in flight have their responses.
func TestRequestsInFlightEnd(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	output := blocking{"not signed", make(chan struct{}), make(chan struct{})}
	result, status := make(chan error, 1), make(chan int, 1)
	go func() { result <- serve(t.Context(), address, "secret", 1, output) }()
	go func() { status <- post(t, address, "another secret") }()
	<-output.blocked
	post(t, address, "secret")
	for { // until the receiver no longer accepts connections
		connection, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		_ = connection.Close()
	}
	select {
	case err := <-result:
		t.Errorf("the receiver ended with error %v before it had responded", err)
		result <- err
	default:
	}
	close(output.released)
	if got, err := <-status, <-result; got != http.StatusUnauthorized || err != nil {
		t.Errorf("got status %d, error %v, want 401 and no error", got, err)
	}
}
