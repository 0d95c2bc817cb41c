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
	receive := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "ok")
	}
	plain := httptest.NewServer(http.HandlerFunc(receive))
	b.Cleanup(plain.Close)
	tls1, pool1 := secure(b, receive, nil)
	tls2, pool2 := secure(b, receive, withHTTP2)
	request := sender.Request{Header: http.Header{"X-Service-Event": {"webhook.test"}}, Body: []byte(strings.Repeat("x", 1<<10))}
	for _, bc := range []struct {
		name, url string
		options   sender.Options
	}{
		{"http", plain.URL, sender.Options{AllowPrivate: true}},
		{"https", tls1.URL, sender.Options{AllowPrivate: true, RootCAs: pool1}},
		{"http2", tls2.URL, sender.Options{AllowPrivate: true, RootCAs: pool2}},
		{"refused", "https://127.0.0.1/", sender.Options{}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			s := sender.New(bc.options)
			request := request
			request.URL = bc.url
			b.ReportAllocs()
			for b.Loop() {
				if got := s.Send(b.Context(), request); got.OK() == (bc.name == "refused") {
					b.Fatalf("%+v", got)
				}
			}
		})
	}
}
