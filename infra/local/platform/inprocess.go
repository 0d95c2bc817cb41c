package platform

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"strconv"
)

// inProcess is the transport of clients inside this process. It calls the handler of the services directly, which needs
// a fraction of the CPU time of a connection. It does not lose a response if the client cancels the request.
type inProcess struct{ services http.Handler }

// RoundTrip implements http.RoundTripper.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	received := r.WithContext(r.Context()) // a copy: a RoundTripper must not change the caller's request
	received.Host = cmp.Or(r.Host, r.URL.Host)
	if received.Body == nil {
		received.Body = http.NoBody
	}
	defer func() { _ = received.Body.Close() }()
	w := &memoryWriter{header: http.Header{}, status: http.StatusOK}
	t.services.ServeHTTP(w, received)
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// memoryWriter is an [http.ResponseWriter] that holds a response in memory.
type memoryWriter struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (m *memoryWriter) Header() http.Header { return m.header }

// WriteHeader implements http.ResponseWriter.
func (m *memoryWriter) WriteHeader(status int) { m.status = status }

// Write implements http.ResponseWriter.
func (m *memoryWriter) Write(b []byte) (int, error) {
	m.body.Write(b)
	return len(b), nil
}
