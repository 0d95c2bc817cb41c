package sender_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"devplatform/shared/webhook/sender"
)

const (
	notHTTP   = "the answer is not valid HTTP, or its header is too long"
	closed    = "the connection was closed before a complete answer"
	brokenOff = "the answer broke off before its end"
	tooSlow   = "no complete answer within 0.4 s"
)

var withoutDuration = cmpopts.IgnoreFields(sender.Result{}, "Duration")

func TestWhatIsMadeOfAnAnswer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, answer string
		want         sender.Result
	}{
		{"200", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", sender.Result{StatusCode: 200, Response: "ok"}},
		{"201, chunked", "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", sender.Result{StatusCode: 201, Response: "ok"}},
		{"202, up to the end of the connection", "HTTP/1.1 202 Accepted\r\n\r\nok", sender.Result{StatusCode: 202, Response: "ok"}},
		{"204", "HTTP/1.1 204 No Content\r\n\r\n", sender.Result{StatusCode: 204}},
		{"299", "HTTP/1.0 299 Odd\r\n\r\n", sender.Result{StatusCode: 299}},
		{"a few interim answers", "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
			sender.Result{StatusCode: 200}},
		{"compressed, as it is", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 6\r\n\r\n\x1f\x8b\x08\x00ab",
			sender.Result{StatusCode: 200, Response: "\ufffdab"}},

		{"101", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nx", sender.Result{StatusCode: 101, Error: "status 101"}},
		{"300", "HTTP/1.1 300 Multiple Choices\r\n\r\n", sender.Result{StatusCode: 300, Error: "status 300"}},
		{"304", "HTTP/1.1 304 Not Modified\r\n\r\n", sender.Result{StatusCode: 304, Error: "status 304"}},
		{"a redirect without a place to go", "HTTP/1.1 302 Found\r\n\r\n",
			sender.Result{StatusCode: 302, Error: "the answer was a redirect (302), which is not followed"}},
		{"400", "HTTP/1.1 400 Bad Request\r\n\r\n{\"error\":\"signature\"}", sender.Result{StatusCode: 400, Error: "status 400", Response: `{"error":"signature"}`}},
		{"410", "HTTP/1.1 410 Gone\r\nRetry-After: 7\r\n\r\n", sender.Result{StatusCode: 410, Error: "status 410", Gone: true}},
		{"429 and how long to wait", "HTTP/1.1 429 Slow\r\nRetry-After: 120\r\n\r\n",
			sender.Result{StatusCode: 429, Error: "status 429", RetryAfter: 2 * time.Minute}},
		{"500, which may not ask to wait", "HTTP/1.1 500 No\r\nRetry-After: 120\r\n\r\n", sender.Result{StatusCode: 500, Error: "status 500"}},
		{"503 and until when to wait", "HTTP/1.1 503 Busy\r\nRetry-After: Sat, 31 Jan 2026 08:20:00 GMT\r\n\r\n",
			sender.Result{StatusCode: 503, Error: "status 503", RetryAfter: 5 * time.Minute}},
		{"999", "HTTP/1.1 999 Blocked\r\n\r\n", sender.Result{StatusCode: 999, Error: "status 999"}},

		{"nothing", "", sender.Result{Error: closed}},
		{"half a header", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", sender.Result{Error: closed}},
		{"interim answers and no final one", "HTTP/1.1 103 Early Hints\r\n\r\n", sender.Result{Error: closed}},
		{"another protocol", "SSH-2.0-OpenSSH_9.9\r\n\r\n", sender.Result{Error: notHTTP}},
		{"no number for a status", "HTTP/1.1 OK\r\n\r\n", sender.Result{Error: notHTTP}},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", sender.Result{Error: notHTTP}},
		{"a body that is cut off", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", sender.Result{StatusCode: 200, Error: brokenOff, Response: "half"}},
		{"a chunk that is cut off", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhalf", sender.Result{StatusCode: 200, Error: brokenOff, Response: "half"}},
		{"chunks without an end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", sender.Result{StatusCode: 200, Error: brokenOff, Response: "half"}},
		{"a chunk without a length", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", sender.Result{StatusCode: 200, Error: brokenOff}},
		{"a failure whose body is cut off", "HTTP/1.1 500 No\r\nContent-Length: 10\r\n\r\nhalf",
			sender.Result{StatusCode: 500, Error: "status 500; " + brokenOff, Response: "half"}},
		{"a body longer than is read", "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat("é", 10<<10),
			sender.Result{StatusCode: 200, Response: strings.Repeat("é", 512)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := listen(t, "127.0.0.1:0", answer(tc.answer))
			s := sender.New(sender.Options{AllowPrivate: true, Now: func() time.Time { return time.Date(2026, 1, 31, 8, 15, 0, 0, time.UTC) }})
			if diff := cmp.Diff(tc.want, post(t, s, e.url())); diff != "" {
				t.Error(diff)
			}
			if n := e.accepted.Load(); n != 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// forever writes until the client goes away.
func forever(conn net.Conn, s string, pause time.Duration) {
	for {
		if _, err := io.WriteString(conn, s); err != nil {
			return
		}
		if pause > 0 {
			time.Sleep(pause)
		}
	}
}

func TestAnswersWithoutEndAreBounded(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 64<<10)
	full := strings.Repeat("x", 1<<10)
	for _, tc := range []struct {
		name  string
		serve func(net.Conn)
		want  sender.Result
	}{
		{"a body", func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n"); forever(c, big, 0) }, sender.Result{StatusCode: 200, Response: full}},
		{"one chunk", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n")
			forever(c, big, 0)
		}, sender.Result{StatusCode: 200, Response: full}},
		{"a body that stops moving after what is read", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"+big[:16<<10])
			untilClosed(c)
		}, sender.Result{StatusCode: 200, Response: full}},
		{"a failure's body", func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 500 No\r\n\r\n"); forever(c, big, 0) },
			sender.Result{StatusCode: 500, Error: "status 500", Response: full}},
		{"a header", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			forever(c, "X-More: "+big[:100]+"\r\n", 0)
		}, sender.Result{Error: notHTTP}},
		{"one line of a header", func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nX-More: "); forever(c, big, 0) }, sender.Result{Error: notHTTP}},
		{"a status line", func(c net.Conn) { forever(c, big, 0) }, sender.Result{Error: notHTTP}},
		{"interim answers", func(c net.Conn) { forever(c, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 0) }, sender.Result{Error: notHTTP}},
		{"chunk extensions", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;")
			forever(c, big, 0)
		}, sender.Result{StatusCode: 200, Error: brokenOff}},
		{"trailers", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-More\r\n\r\n0\r\n")
			forever(c, "X-More: "+big[:100]+"\r\n", 0)
		}, sender.Result{StatusCode: 200, Error: brokenOff}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := listen(t, "127.0.0.1:0", func(c net.Conn) { takeRequest(c); tc.serve(c) })
			if diff := cmp.Diff(tc.want, post(t, onTheMachine(), e.url()), withoutDuration); diff != "" {
				t.Error(diff)
			}
			<-e.closed // the endpoint's own loop ended: nobody listens to it any more
		})
	}
}

// Each of these would go on for as long as anyone waits.
func TestAnAttemptHasATimeOverAll(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, scheme string
		serve        func(net.Conn)
		want         sender.Result
	}{
		{"no answer", "http", untilClosed, sender.Result{Error: tooSlow, TimedOut: true}},
		{"no TLS", "https", untilClosed, sender.Result{Error: tooSlow, TimedOut: true}},
		{"a header that drips", "http", func(c net.Conn) { forever(c, "H", quick/20) }, sender.Result{Error: tooSlow, TimedOut: true}},
		{"a body that drips", "http", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			forever(c, "\n", quick/4)
		}, sender.Result{StatusCode: 200, Error: tooSlow, TimedOut: true}},
		{"a body without the byte that was promised", "http", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok")
			untilClosed(c)
		}, sender.Result{StatusCode: 200, Error: tooSlow, TimedOut: true, Response: "ok"}},
		{"a failure's body", "http", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 500 No\r\nContent-Length: 3\r\n\r\nno")
			untilClosed(c)
		}, sender.Result{StatusCode: 500, Error: "status 500; " + tooSlow, TimedOut: true, Response: "no"}},
		{"410, whose body never comes", "http", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 410 Gone\r\nContent-Length: 3\r\n\r\n")
			untilClosed(c)
		}, sender.Result{StatusCode: 410, Error: "status 410; " + tooSlow, TimedOut: true, Gone: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := listen(t, "127.0.0.1:0", func(c net.Conn) {
				if tc.scheme == "http" {
					takeRequest(c) // bytes that come before it are no answer
				}
				tc.serve(c)
			})
			got := post(t, hurried(), tc.scheme+"://"+e.address+"/")
			if strings.Trim(got.Response, "\n") == "" {
				got.Response = "" // however many dripped
			}
			if diff := cmp.Diff(tc.want, got, withoutDuration); diff != "" {
				t.Error(diff)
			}
			if got.Duration < quick || got.Duration > 10*quick {
				t.Errorf("took %s", got.Duration)
			}
			<-e.closed
		})
	}
}

func TestANameThatIsNotAnsweredInTimeIsATimeOut(t *testing.T) {
	t.Parallel()
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", silent.LocalAddr().String())
	}}
	got := post(t, sender.New(sender.Options{Timeout: quick, Resolver: resolver}), "https://slow.test/")
	if !got.TimedOut || got.Error != tooSlow && got.Error != "the host name could not be resolved in time" {
		t.Errorf("%+v", got)
	}
}

func TestAnEndpointThatTakesNoConnectionIsATimeOut(t *testing.T) {
	t.Parallel()
	e := full(t)
	got := post(t, hurried(), "http://"+e+"/")
	if !got.TimedOut || got.Error != tooSlow && got.Error != "no connection could be made in time" {
		t.Errorf("%+v", got)
	}
	short, cancel := context.WithTimeout(t.Context(), quick/8)
	defer cancel()
	if got := hurried().Send(short, sender.Request{URL: "http://" + e}); !got.Aborted || got.TimedOut {
		t.Errorf("where the caller's time ends first: %+v", got)
	}
}

// full is the address of a listener that accepts nothing and whose queue is full.
func full(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(fd, 0)); err != nil {
		t.Skip(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Skip(err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(name.(*syscall.SockaddrInet4).Port))
	for range 8 {
		conn, err := net.DialTimeout("tcp", address, quick/4)
		if err != nil {
			return address
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Skip("this machine's queues don't fill up")
	return ""
}

func TestConnectionsThatFail(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = free.Close()
	if got := post(t, onTheMachine(), "http://"+free.Addr().String()+"/"); got.Error != "the connection was refused" || got.TimedOut {
		t.Errorf("a closed port: %+v", got)
	}
	reset := listen(t, "127.0.0.1:0", func(c net.Conn) { takeRequest(c); _ = c.(*net.TCPConn).SetLinger(0) })
	if got := post(t, onTheMachine(), reset.url()); got.Error != closed || got.TimedOut {
		t.Errorf("a reset: %+v", got)
	}
	hasty := listen(t, "127.0.0.1:0", func(net.Conn) {})
	if got := post(t, onTheMachine(), hasty.url()); got.Error != closed {
		t.Errorf("a connection that is closed at once: %+v", got)
	}
	greeting := listen(t, "127.0.0.1:0", func(c net.Conn) { _, _ = io.WriteString(c, "220 mail.test ESMTP\r\n"); untilClosed(c) })
	if got := post(t, onTheMachine(), greeting.url()); got.Error != notHTTP && got.Error != closed || got.StatusCode != 0 {
		t.Errorf("a protocol that speaks first: %+v", got)
	}
	midway := listen(t, "127.0.0.1:0", func(c net.Conn) {
		takeRequest(c)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nok")
		time.Sleep(20 * time.Millisecond) // a reset at once could overtake the answer
		_ = c.(*net.TCPConn).SetLinger(0)
	})
	if got := post(t, onTheMachine(), midway.url()); got.Error != brokenOff || got.StatusCode != 200 {
		t.Errorf("a reset within the answer: %+v", got)
	}
}

// An answer counts although the request was not read to its end.
func TestAnAnswerMayComeBeforeTheBodyWasRead(t *testing.T) {
	t.Parallel()
	e := listen(t, "127.0.0.1:0", func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReaderSize(c, 16)); err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly")
		_, _ = c.Read(make([]byte, 1))
		untilClosed(c)
	})
	got := onTheMachine().Send(t.Context(), sender.Request{URL: e.url(), Body: make([]byte, 32<<20)})
	if !got.OK() || got.Response != "early" {
		t.Errorf("%+v", got)
	}
	<-e.closed
}

func TestAnAttemptThatTheCallerEndsIsNoTimeOut(t *testing.T) {
	t.Parallel()
	aborted := sender.Result{Error: "the attempt was interrupted before the endpoint had answered", Aborted: true}
	serving := func(answer string) (*endpoint, chan struct{}) {
		reached := make(chan struct{}, 100)
		return listen(t, "127.0.0.1:0", func(c net.Conn) {
			takeRequest(c)
			_, _ = io.WriteString(c, answer)
			reached <- struct{}{}
			untilClosed(c)
		}), reached
	}

	hanging, reached := serving("")
	cancelled, cancel := context.WithCancel(t.Context())
	go func() { <-reached; cancel() }()
	for _, when := range []string{"during the attempt", "before it"} {
		if diff := cmp.Diff(aborted, onTheMachine().Send(cancelled, sender.Request{URL: hanging.url()}), withoutDuration); diff != "" {
			t.Errorf("cancelled %s: %s", when, diff)
		}
	}
	if n := hanging.accepted.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
	for range 5 { // whatever notices the deadline first
		short, cancel := context.WithTimeout(t.Context(), quick/8)
		if diff := cmp.Diff(aborted, onTheMachine().Send(short, sender.Request{URL: hanging.url()}), withoutDuration); diff != "" {
			t.Errorf("deadline: %s", diff)
		}
		cancel()
	}

	half, reachedHalf := serving("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok")
	within, cancel := context.WithCancel(t.Context())
	go func() { <-reachedHalf; time.Sleep(quick / 2); cancel() }()
	got := onTheMachine().Send(within, sender.Request{URL: half.url()})
	if !got.Aborted || got.TimedOut || got.StatusCode != 200 || got.OK() {
		t.Errorf("cancelled within the answer: %+v", got)
	}
}

func TestDurationIsTheClocks(t *testing.T) {
	t.Parallel()
	e := listen(t, "127.0.0.1:0", answer("HTTP/1.1 200 OK\r\n\r\n"))
	at := time.Date(2026, 1, 31, 8, 15, 0, 0, time.UTC)
	ticks := 0
	s := sender.New(sender.Options{AllowPrivate: true, Now: func() time.Time { ticks++; return at.Add(time.Duration(ticks) * 250 * time.Millisecond) }})
	if got := post(t, s, e.url()); got.Duration != 250*time.Millisecond {
		t.Errorf("%+v", got)
	}
	backwards := sender.New(sender.Options{AllowPrivate: true, Now: func() time.Time { at = at.Add(-time.Second); return at }})
	if got := post(t, backwards, e.url()); got.Duration != 0 || !got.OK() {
		t.Errorf("a clock that is set back: %+v", got)
	}
}
