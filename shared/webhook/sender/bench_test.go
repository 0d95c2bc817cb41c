package sender_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"devplatform/shared/webhook/sender"
)

// BenchmarkSend measures an attempt without network latency. Each attempt makes a new connection and TLS handshake.
func BenchmarkSend(b *testing.B) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "ok")
	}
	plain := httptest.NewServer(http.HandlerFunc(handler))
	b.Cleanup(plain.Close)
	https, httpsRoots := startHTTPS(b, handler, nil)
	http2, http2Roots := startHTTPS(b, handler, withHTTP2)
	header := http.Header{"X-Service-Event": {"webhook.test"}}
	body := []byte(strings.Repeat("x", 1<<10))
	for _, bc := range []struct {
		name, url string
		options   sender.Options
	}{
		{"http", plain.URL, sender.Options{AllowPrivate: true}},
		{"https", https.URL, sender.Options{AllowPrivate: true, RootCAs: httpsRoots}},
		{"http2", http2.URL, sender.Options{AllowPrivate: true, RootCAs: http2Roots}},
		{"not public", "https://127.0.0.1/", sender.Options{}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			s := sender.New(bc.options)
			request := sender.Request{URL: bc.url, Header: header, Body: body}
			b.ReportAllocs()
			for b.Loop() {
				if got := s.Send(b.Context(), request); got.OK() == (bc.name == "not public") {
					b.Fatalf("unexpected result %+v", got)
				}
			}
		})
	}
}
