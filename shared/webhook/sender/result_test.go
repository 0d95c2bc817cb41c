package sender_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"devplatform/shared/webhook/sender"
)

const (
	notHTTP    = "the response is not valid HTTP, or its header is too large"
	closed     = "the connection was closed before the response was complete"
	incomplete = "the response body is incomplete"
	timedOut   = "no complete response within 0.4 s" // shortTimeout
)

var withoutDuration = cmpopts.IgnoreFields(sender.Result{}, "Duration")

func TestResults(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, response string
		want           sender.Result
	}{
		{"200", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", sender.Result{StatusCode: 200, Response: "ok"}},
		{
			"201, chunked", "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
			sender.Result{StatusCode: 201, Response: "ok"},
		},
		{
			"202, body ends with the connection", "HTTP/1.1 202 Accepted\r\n\r\nok",
			sender.Result{StatusCode: 202, Response: "ok"},
		},
		{"204", "HTTP/1.1 204 No Content\r\n\r\n", sender.Result{StatusCode: 204}},
		{"299", "HTTP/1.0 299 Odd\r\n\r\n", sender.Result{StatusCode: 299}},
		{
			"several interim responses", "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
			sender.Result{StatusCode: 200},
		},
		{
			"compressed, not decompressed",
			"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 6\r\n\r\n\x1f\x8b\x08\x00ab",
			sender.Result{StatusCode: 200, Response: "\ufffdab"},
		},

		{
			"101", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nx",
			sender.Result{StatusCode: 101, Error: "status 101"},
		},
		{"300", "HTTP/1.1 300 Multiple Choices\r\n\r\n", sender.Result{StatusCode: 300, Error: "status 300"}},
		{"304", "HTTP/1.1 304 Not Modified\r\n\r\n", sender.Result{StatusCode: 304, Error: "status 304"}},
		{
			"redirect without a location", "HTTP/1.1 302 Found\r\n\r\n",
			sender.Result{StatusCode: 302, Error: "the response is a redirect (302), and redirects are not followed"},
		},
		{
			"400", "HTTP/1.1 400 Bad Request\r\n\r\n{\"error\":\"signature\"}",
			sender.Result{StatusCode: 400, Error: "status 400", Response: `{"error":"signature"}`},
		},
		{
			"410", "HTTP/1.1 410 Gone\r\nRetry-After: 7\r\n\r\n",
			sender.Result{StatusCode: 410, Error: "status 410", Gone: true},
		},
		{
			"429 with Retry-After in seconds", "HTTP/1.1 429 Slow\r\nRetry-After: 120\r\n\r\n",
			sender.Result{StatusCode: 429, Error: "status 429", RetryAfter: 2 * time.Minute},
		},
		{
			"500 with Retry-After, which is ignored", "HTTP/1.1 500 No\r\nRetry-After: 120\r\n\r\n",
			sender.Result{StatusCode: 500, Error: "status 500"},
		},
		{
			"503 with Retry-After as a date", "HTTP/1.1 503 Busy\r\nRetry-After: Sat, 31 Jan 2026 08:20:00 GMT\r\n\r\n",
			sender.Result{StatusCode: 503, Error: "status 503", RetryAfter: 5 * time.Minute},
		},
		{"999", "HTTP/1.1 999 Blocked\r\n\r\n", sender.Result{StatusCode: 999, Error: "status 999"}},

		{"no bytes", "", sender.Result{Error: closed}},
		{"incomplete header", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", sender.Result{Error: closed}},
		{"interim responses without a final one", "HTTP/1.1 103 Early Hints\r\n\r\n", sender.Result{Error: closed}},
		{"another protocol", "SSH-2.0-OpenSSH_9.9\r\n\r\n", sender.Result{Error: notHTTP}},
		{"status that is not a number", "HTTP/1.1 OK\r\n\r\n", sender.Result{Error: notHTTP}},
		{
			"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
			sender.Result{Error: notHTTP},
		},
		{
			"truncated body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
			sender.Result{StatusCode: 200, Error: incomplete, Response: "half"},
		},
		{
			"truncated chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhalf",
			sender.Result{StatusCode: 200, Error: incomplete, Response: "half"},
		},
		{
			"chunks without the last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
			sender.Result{StatusCode: 200, Error: incomplete, Response: "half"},
		},
		{
			"chunk without a valid length", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
			sender.Result{StatusCode: 200, Error: incomplete},
		},
		{
			"failure with a truncated body", "HTTP/1.1 500 No\r\nContent-Length: 10\r\n\r\nhalf",
			sender.Result{StatusCode: 500, Error: "status 500; " + incomplete, Response: "half"},
		},
		{
			"body longer than the limit", "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat("é", 10<<10),
			sender.Result{StatusCode: 200, Response: strings.Repeat("é", 512)},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := listen(t, "127.0.0.1:0", respond(tc.response))
			now := time.Date(2026, 1, 31, 8, 15, 0, 0, time.UTC)
			s := sender.New(sender.Options{AllowPrivate: true, Now: func() time.Time { return now }})
			if diff := cmp.Diff(tc.want, post(t, s, e.url())); diff != "" {
				t.Errorf("the result (-want +got):\n%s", diff)
			}
			if n := e.accepted.Load(); n != 1 {
				t.Errorf("got %d connections, want 1", n)
			}
		})
	}
}

// writeForever writes s until the client closes the connection. It pauses after each write.
func writeForever(conn net.Conn, s string, pause time.Duration) {
	for {
		if _, err := io.WriteString(conn, s); err != nil {
			return
		}
		if pause > 0 {
			time.Sleep(pause)
		}
	}
}

func TestEndlessResponsesAreBounded(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 64<<10)
	full := strings.Repeat("x", 1<<10)
	for _, tc := range []struct {
		name  string
		serve func(net.Conn)
		want  sender.Result
	}{
		{"body", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			writeForever(c, big, 0)
		}, sender.Result{StatusCode: 200, Response: full}},
		{"one chunk", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n")
			writeForever(c, big, 0)
		}, sender.Result{StatusCode: 200, Response: full}},
		{"body that stalls after the part that is read", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"+big[:16<<10])
			waitForClose(c)
		}, sender.Result{StatusCode: 200, Response: full}},
		{"body of a failure", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 500 No\r\n\r\n")
			writeForever(c, big, 0)
		}, sender.Result{StatusCode: 500, Error: "status 500", Response: full}},
		{"header", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			writeForever(c, "X-More: "+big[:100]+"\r\n", 0)
		}, sender.Result{Error: notHTTP}},
		{"one header line", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nX-More: ")
			writeForever(c, big, 0)
		}, sender.Result{Error: notHTTP}},
		{"status line", func(c net.Conn) { writeForever(c, big, 0) }, sender.Result{Error: notHTTP}},
		{"interim responses", func(c net.Conn) {
			writeForever(c, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 0)
		}, sender.Result{Error: notHTTP}},
		{"chunk extensions", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;")
			writeForever(c, big, 0)
		}, sender.Result{StatusCode: 200, Error: incomplete}},
		{"trailers", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-More\r\n\r\n0\r\n")
			writeForever(c, "X-More: "+big[:100]+"\r\n", 0)
		}, sender.Result{StatusCode: 200, Error: incomplete}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := listen(t, "127.0.0.1:0", func(c net.Conn) {
				readRequest(c)
				tc.serve(c)
			})
			if diff := cmp.Diff(tc.want, post(t, localSender(), e.url()), withoutDuration); diff != "" {
				t.Errorf("the result (-want +got):\n%s", diff)
			}
			<-e.closed // the sender closed the connection
		})
	}
}

func TestConnectionFailures(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	got := post(t, localSender(), "http://"+listener.Addr().String()+"/")
	if got.Error != "the connection was refused" || got.TimedOut {
		t.Errorf("closed port: got %+v, want a refused connection", got)
	}
	reset := listen(t, "127.0.0.1:0", func(c net.Conn) {
		readRequest(c)
		_ = c.(*net.TCPConn).SetLinger(0)
	})
	if got := post(t, localSender(), reset.url()); got.Error != closed || got.TimedOut {
		t.Errorf("reset after the request: got %+v, want error %q", got, closed)
	}
	closing := listen(t, "127.0.0.1:0", func(net.Conn) {})
	if got := post(t, localSender(), closing.url()); got.Error != closed {
		t.Errorf("connection closed immediately: got %+v, want error %q", got, closed)
	}
	smtp := listen(t, "127.0.0.1:0", func(c net.Conn) {
		_, _ = io.WriteString(c, "220 mail.test ESMTP\r\n")
		waitForClose(c)
	})
	if got := post(t, localSender(), smtp.url()); got.Error != notHTTP && got.Error != closed || got.StatusCode != 0 {
		t.Errorf("protocol in which the server sends first: got %+v, want error %q or %q", got, notHTTP, closed)
	}
	resetInBody := listen(t, "127.0.0.1:0", func(c net.Conn) {
		readRequest(c)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nok")
		time.Sleep(20 * time.Millisecond) // without the pause, the reset could arrive before the response
		_ = c.(*net.TCPConn).SetLinger(0)
	})
	if got := post(t, localSender(), resetInBody.url()); got.Error != incomplete || got.StatusCode != 200 {
		t.Errorf("reset during the response: got %+v, want status 200 and error %q", got, incomplete)
	}
}

// A response is accepted even if the endpoint did not read the whole request.
func TestResponseBeforeRequestIsRead(t *testing.T) {
	t.Parallel()
	e := listen(t, "127.0.0.1:0", func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReaderSize(c, 16)); err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly")
		_, _ = c.Read(make([]byte, 1))
		waitForClose(c)
	})
	got := localSender().Send(t.Context(), sender.Request{URL: e.url(), Body: make([]byte, 32<<20)})
	if !got.OK() || got.Response != "early" {
		t.Errorf("got %+v, want a success with the early response", got)
	}
	<-e.closed
}

func TestDurationUsesTheClock(t *testing.T) {
	t.Parallel()
	e := listen(t, "127.0.0.1:0", respond("HTTP/1.1 200 OK\r\n\r\n"))
	at := time.Date(2026, 1, 31, 8, 15, 0, 0, time.UTC)
	ticks := 0
	s := sender.New(sender.Options{AllowPrivate: true, Now: func() time.Time {
		ticks++
		return at.Add(time.Duration(ticks) * 250 * time.Millisecond)
	}})
	if got := post(t, s, e.url()); got.Duration != 250*time.Millisecond {
		t.Errorf("got duration %v, want 250ms", got.Duration)
	}
	backwards := sender.New(sender.Options{AllowPrivate: true, Now: func() time.Time {
		at = at.Add(-time.Second)
		return at
	}})
	if got := post(t, backwards, e.url()); got.Duration != 0 || !got.OK() {
		t.Errorf("got %+v with a clock that is set back, want a success with duration 0", got)
	}
}
