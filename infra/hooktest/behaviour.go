package hooktest

import (
	"bytes"
	"cmp"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// behaviour is how one request is answered.
type behaviour struct {
	// status is what the client is told, 0 for nothing.
	status int
	answer func(r *Receiver, w http.ResponseWriter, req *http.Request)
}

// behaviourOf reads a URL. attempt is the number of this request among those of its webhook-id on its path, from 1.
func behaviourOf(u *url.URL, attempt int) behaviour {
	name, rest, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	query := u.Query()
	limited := query.Has("n") || name == "fail"
	if limited && attempt > number(query.Get("n"), 1) {
		return plain(http.StatusOK)
	}
	switch name {
	case "ok":
		return plain(http.StatusOK)
	case "status":
		code, _, _ := strings.Cut(rest, "/")
		return plain(number(code, http.StatusNotFound))
	case "fail":
		return plain(number(query.Get("status"), http.StatusInternalServerError))
	case "gone":
		return plain(http.StatusGone)
	case "retry-after":
		return withHeader(number(query.Get("status"), http.StatusTooManyRequests), "Retry-After", cmp.Or(query.Get("s"), "1"))
	case "redirect":
		return withHeader(number(query.Get("status"), http.StatusFound), "Location", cmp.Or(query.Get("to"), "/ok/redirected"))
	case "slow":
		return behaviour{http.StatusOK, slow(milliseconds(query, 1000))}
	case "hang":
		return behaviour{0, hang}
	case "drip":
		return behaviour{http.StatusOK, drip(milliseconds(query, 1000))}
	case "huge":
		return behaviour{http.StatusOK, huge}
	case "reset":
		return behaviour{0, reset}
	}
	return plain(http.StatusNotFound)
}

// plain answers with a status and, where one is allowed, its text as the body.
func plain(status int) behaviour {
	if status < http.StatusOK || status > 999 { // net/http takes no other as a final status
		status = http.StatusNotFound
	}
	return behaviour{status, func(_ *Receiver, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		if status != http.StatusNoContent && status != http.StatusNotModified {
			_, _ = w.Write([]byte(cmp.Or(http.StatusText(status), strconv.Itoa(status)) + "\n")) //nolint:gosec // a number, as plain text
		}
	}}
}

func withHeader(status int, name, value string) behaviour {
	b := plain(status)
	answer := b.answer
	b.answer = func(r *Receiver, w http.ResponseWriter, req *http.Request) {
		w.Header().Set(name, value)
		answer(r, w, req)
	}
	return b
}

func slow(wait time.Duration) func(*Receiver, http.ResponseWriter, *http.Request) {
	return func(r *Receiver, w http.ResponseWriter, req *http.Request) {
		if !r.pause(req, wait) {
			panic(http.ErrAbortHandler) // or an empty 200 would go out
		}
		plain(http.StatusOK).answer(r, w, req)
	}
}

func hang(r *Receiver, _ http.ResponseWriter, req *http.Request) {
	select {
	case <-req.Context().Done():
	case <-r.closing:
	}
	panic(http.ErrAbortHandler)
}

func drip(interval time.Duration) func(*Receiver, http.ResponseWriter, *http.Request) {
	return func(r *Receiver, w http.ResponseWriter, req *http.Request) {
		flush := http.NewResponseController(w)
		for {
			if _, err := w.Write([]byte(".")); err != nil || flush.Flush() != nil || !r.pause(req, interval) {
				panic(http.ErrAbortHandler) // the body never ends well
			}
		}
	}
}

func huge(r *Receiver, w http.ResponseWriter, req *http.Request) {
	chunk := bytes.Repeat([]byte("all work and no play\n"), 3000)
	for {
		if _, err := w.Write(chunk); err != nil || !r.pause(req, 0) {
			panic(http.ErrAbortHandler)
		}
	}
}

// reset ends the connection with RST in place of FIN: what has been sent and not read is thrown away.
func reset(_ *Receiver, w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	below := conn
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		below = secure.NetConn()
	}
	if tcp, ok := below.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = below.Close()
}

// pause waits; false tells that nobody waits for the answer any more.
func (r *Receiver) pause(req *http.Request, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-req.Context().Done():
		return false
	case <-r.closing:
		return false
	case <-timer.C:
		return true
	}
}

func milliseconds(query url.Values, otherwise int) time.Duration {
	return time.Duration(number(query.Get("ms"), otherwise)) * time.Millisecond
}

// number reads what tests wrote; what isn't a number is as if it were not there.
func number(text string, otherwise int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return otherwise
	}
	return n
}
