package sender_test

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"devplatform/shared/webhook/sender"
)

// An endpoint chooses its certificates. Their parsed form can be more than 20 times as large as the handshake.
func TestLargeHandshakesFail(t *testing.T) {
	t.Parallel()
	ok := func(http.ResponseWriter, *http.Request) {}
	valid, pool := startHTTPS(t, ok, nil)
	certificate := valid.TLS.Certificates[0]
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "unused"},
		DNSNames: []string{strings.Repeat("x", 10<<10)},
	}
	key := certificate.PrivateKey
	large, err := x509.CreateCertificate(rand.Reader, template, template, valid.Certificate().PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		certificates [][]byte
		want         string
	}{
		{[][]byte{large, large}, ""},
		{
			[][]byte{large, large, large, large},
			"the TLS handshake failed: the endpoint sent more than 32 KiB, such as too many certificates",
		},
	} {
		server, _ := startHTTPS(t, ok, func(s *httptest.Server) {
			chain := append([][]byte{certificate.Certificate[0]}, tc.certificates...)
			s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: chain, PrivateKey: key}}}
		})
		got := post(t, sender.New(sender.Options{AllowPrivate: true, RootCAs: pool}), server.URL)
		if got.Error != tc.want {
			t.Errorf("%d large certificates: got %+v, want error %q", len(tc.certificates), got, tc.want)
		}
	}
}

// The parsed form of a header with many short fields is 20 times as large.
func TestLargeHeadersFail(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]string{15 << 10: "", 20 << 10: notHTTP} {
		e := listen(t, "127.0.0.1:0", respond("HTTP/1.1 200 OK\r\n"+strings.Repeat("a:b\r\n", size/5)+"\r\n"))
		if got := post(t, localSender(), e.url()); got.Error != want {
			t.Errorf("%d bytes: got %+v, want error %q", size, got, want)
		}
	}
}

// An endpoint can send frames without end that are not part of a response.
func TestHTTP2FloodsFail(t *testing.T) {
	t.Parallel()
	certificate, pool := startHTTPS(t, func(http.ResponseWriter, *http.Request) {}, nil)
	config := certificate.TLS.Clone()
	config.NextProtos = []string{"h2"}
	e := listen(t, "127.0.0.1:0", func(conn net.Conn) {
		framer := http2.NewFramer(tls.Server(conn, config), bytes.NewReader(nil))
		for err := framer.WriteSettings(); err == nil; err = framer.WriteRawFrame(0xee, 0, 0, make([]byte, 16<<10)) {
		}
	})
	s := sender.New(sender.Options{AllowPrivate: true, RootCAs: pool, Timeout: 10 * shortTimeout})
	if got := post(t, s, "https://"+e.address); got.Error != closed {
		t.Errorf("got %+v, want error %q", got, closed)
	}
}
