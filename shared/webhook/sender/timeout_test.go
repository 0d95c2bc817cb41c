package sender_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/webhook/sender"
)

// The endpoints of this test never finish their response.
func TestAttemptTimesOut(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, scheme string
		serve        func(net.Conn)
		want         sender.Result
	}{
		{"no response", "http", waitForClose, sender.Result{Error: timedOut, TimedOut: true}},
		{"no TLS handshake", "https", waitForClose, sender.Result{Error: timedOut, TimedOut: true}},
		{"slow header", "http", func(c net.Conn) {
			writeForever(c, "H", shortTimeout/20)
		}, sender.Result{Error: timedOut, TimedOut: true}},
		{"slow body", "http", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			writeForever(c, "\n", shortTimeout/4)
		}, sender.Result{StatusCode: 200, Error: timedOut, TimedOut: true}},
		{"body shorter than its Content-Length", "http", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok")
			waitForClose(c)
		}, sender.Result{StatusCode: 200, Error: timedOut, TimedOut: true, Response: "ok"}},
		{"incomplete body of a failure", "http", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 500 No\r\nContent-Length: 3\r\n\r\nno")
			waitForClose(c)
		}, sender.Result{StatusCode: 500, Error: "status 500; " + timedOut, TimedOut: true, Response: "no"}},
		{"410 without its body", "http", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 410 Gone\r\nContent-Length: 3\r\n\r\n")
			waitForClose(c)
		}, sender.Result{StatusCode: 410, Error: "status 410; " + timedOut, TimedOut: true, Gone: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := listen(t, "127.0.0.1:0", func(c net.Conn) {
				if tc.scheme == "http" {
					readRequest(c) // bytes that are sent before the request are not a response
				}
				tc.serve(c)
			})
			got := post(t, shortTimeoutSender(), tc.scheme+"://"+e.address+"/")
			if strings.Trim(got.Response, "\n") == "" {
				got.Response = "" // the number of newlines varies
			}
			if diff := cmp.Diff(tc.want, got, withoutDuration); diff != "" {
				t.Errorf("the result (-want +got):\n%s", diff)
			}
			if got.Duration < shortTimeout || got.Duration > 10*shortTimeout {
				t.Errorf("the attempt took %s, want %s to %s", got.Duration, shortTimeout, 10*shortTimeout)
			}
			<-e.closed
		})
	}
}

func TestSlowDNSLookupTimesOut(t *testing.T) {
	t.Parallel()
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", silent.LocalAddr().String())
	}}
	got := post(t, sender.New(sender.Options{Timeout: shortTimeout, Resolver: resolver}), "https://slow.test/")
	if !got.TimedOut || got.Error != timedOut && got.Error != "the host name could not be resolved in time" {
		t.Errorf("got %+v, want a time-out", got)
	}
}

func TestSlowConnectTimesOut(t *testing.T) {
	t.Parallel()
	address := fullBacklog(t)
	got := post(t, shortTimeoutSender(), "http://"+address+"/")
	if !got.TimedOut || got.Error != timedOut && got.Error != "the connection timed out" {
		t.Errorf("got %+v, want a time-out", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), shortTimeout/8)
	defer cancel()
	if got := shortTimeoutSender().Send(ctx, sender.Request{URL: "http://" + address}); !got.Aborted || got.TimedOut {
		t.Errorf("got %+v, want an aborted attempt if the context of the caller ends first", got)
	}
}

// fullBacklog returns the address of a listener that accepts no connections and whose backlog is full.
func fullBacklog(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	loopback := &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	if err := errors.Join(syscall.Bind(fd, loopback), syscall.Listen(fd, 0)); err != nil {
		t.Skip(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Skip(err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(name.(*syscall.SockaddrInet4).Port))
	for range 8 {
		conn, err := net.DialTimeout("tcp", address, shortTimeout/4)
		if err != nil {
			return address
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Skip("the backlog did not fill up")
	return ""
}

func TestAbortedAttemptIsNotATimeout(t *testing.T) {
	t.Parallel()
	aborted := sender.Result{Error: "the attempt was interrupted before the response was complete", Aborted: true}
	newEndpoint := func(response string) (*endpoint, chan struct{}) {
		reached := make(chan struct{}, 100) // receives a value after each partial response
		return listen(t, "127.0.0.1:0", func(c net.Conn) {
			readRequest(c)
			_, _ = io.WriteString(c, response)
			reached <- struct{}{}
			waitForClose(c)
		}), reached
	}

	hanging, reached := newEndpoint("")
	cancelled, cancel := context.WithCancel(t.Context())
	go func() {
		<-reached
		cancel()
	}()
	for _, when := range []string{"during the attempt", "before the attempt"} {
		got := localSender().Send(cancelled, sender.Request{URL: hanging.url()})
		if diff := cmp.Diff(aborted, got, withoutDuration); diff != "" {
			t.Errorf("cancelled %s (-want +got):\n%s", when, diff)
		}
	}
	if n := hanging.accepted.Load(); n != 1 {
		t.Errorf("got %d connections, want 1", n)
	}
	for range 5 { // the result must not depend on the goroutine that detects the deadline first
		short, cancel := context.WithTimeout(t.Context(), shortTimeout/8)
		got := localSender().Send(short, sender.Request{URL: hanging.url()})
		if diff := cmp.Diff(aborted, got, withoutDuration); diff != "" {
			t.Errorf("deadline of the caller (-want +got):\n%s", diff)
		}
		cancel()
	}

	partial, reachedPartial := newEndpoint("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok")
	inResponse, cancel := context.WithCancel(t.Context())
	go func() {
		<-reachedPartial
		time.Sleep(shortTimeout / 2)
		cancel()
	}()
	got := localSender().Send(inResponse, sender.Request{URL: partial.url()})
	if !got.Aborted || got.TimedOut || got.StatusCode != 200 || got.OK() {
		t.Errorf("cancelled during the response: got %+v, want an aborted attempt with status 200", got)
	}
}
