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

// behaviour is the response to one request.
type behaviour struct {
	status  int // 0 if there is no response
	respond respondFunc
}

type respondFunc func(r *Receiver, w http.ResponseWriter, req *http.Request)

// behaviourOf returns the behaviour that a URL selects. attempt is the number of this request among the requests with
// the same webhook-id and path, counted from 1.
func behaviourOf(u *url.URL, attempt int) behaviour {
	name, rest, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	query := u.Query()
	isLimited := query.Has("n") || name == "fail"
	if isLimited && attempt > number(query.Get("n"), 1) {
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
		status := number(query.Get("status"), http.StatusTooManyRequests)
		return withHeader(status, "Retry-After", cmp.Or(query.Get("s"), "1"))
	case "redirect":
		status := number(query.Get("status"), http.StatusFound)
		return withHeader(status, "Location", cmp.Or(query.Get("to"), "/ok/redirected"))
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

// plain responds with a status and its text as the body, if the status allows a body.
func plain(status int) behaviour {
	if status < http.StatusOK || status > 999 { // net/http allows only these as a final status
		status = http.StatusNotFound
	}
	return behaviour{status, func(_ *Receiver, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		if status != http.StatusNoContent && status != http.StatusNotModified {
			text := cmp.Or(http.StatusText(status), strconv.Itoa(status))
			_, _ = w.Write([]byte(text + "\n")) //nolint:gosec // the text of a status, as plain text
		}
	}}
}

// withHeader responds like plain, with an additional header.
func withHeader(status int, name, value string) behaviour {
	b := plain(status)
	return behaviour{status, func(r *Receiver, w http.ResponseWriter, req *http.Request) {
		w.Header().Set(name, value)
		b.respond(r, w, req)
	}}
}

// slow responds with 200 after a delay.
func slow(delay time.Duration) respondFunc {
	return func(r *Receiver, w http.ResponseWriter, req *http.Request) {
		if !r.wait(req, delay) {
			panic(http.ErrAbortHandler) // a return would send an empty response with status 200
		}
		plain(http.StatusOK).respond(r, w, req)
	}
}

// hang does not respond.
func hang(r *Receiver, _ http.ResponseWriter, req *http.Request) {
	select {
	case <-req.Context().Done():
	case <-r.closing:
	}
	panic(http.ErrAbortHandler)
}

// drip sends one byte per interval, and never ends the body.
func drip(interval time.Duration) respondFunc {
	return func(r *Receiver, w http.ResponseWriter, req *http.Request) {
		controller := http.NewResponseController(w)
		for {
			if _, err := w.Write([]byte(".")); err != nil || controller.Flush() != nil || !r.wait(req, interval) {
				panic(http.ErrAbortHandler) // a return would end the body without an error
			}
		}
	}
}

// huge sends a body that never ends.
func huge(r *Receiver, w http.ResponseWriter, req *http.Request) {
	chunk := bytes.Repeat([]byte("a line of the response\n"), 3000)
	for {
		if _, err := w.Write(chunk); err != nil || !r.wait(req, 0) {
			panic(http.ErrAbortHandler)
		}
	}
}

// reset closes the connection with RST instead of FIN, so that the client gets an error instead of an end of file.
func reset(_ *Receiver, w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tlsConn, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = tlsConn.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// wait waits for a duration. It returns false if the client closes the connection first, or if the receiver is closed
// first.
func (r *Receiver) wait(req *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
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

// milliseconds returns the duration in the query parameter ms.
func milliseconds(query url.Values, defaultValue int) time.Duration {
	return time.Duration(number(query.Get("ms"), defaultValue)) * time.Millisecond
}

// number returns the number that text contains, or defaultValue if text is not a number or is negative.
func number(text string, defaultValue int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return defaultValue
	}
	return n
}
