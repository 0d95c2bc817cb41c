package sender_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"devplatform/shared/webhook/sender"
)

// startHTTPS starts an HTTPS endpoint and returns a pool with its certificate, which is for example.com and the
// loopback addresses. change may be nil.
func startHTTPS(
	t testing.TB, handler http.HandlerFunc, change func(*httptest.Server),
) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if change != nil {
		change(server)
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return server, pool
}

func withHTTP2(s *httptest.Server) { s.EnableHTTP2 = true }

func TestHTTPVersionsOverTLS(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*httptest.Server){"HTTP/1.1": nil, "HTTP/2.0": withHTTP2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var open sync.WaitGroup
			server, pool := startHTTPS(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, r.Proto)
			}, func(s *httptest.Server) {
				if change != nil {
					change(s)
				}
				s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
					switch state {
					case http.StateNew:
						open.Add(1)
					case http.StateClosed:
						open.Done()
					}
				}
			})
			s := sender.New(sender.Options{AllowPrivate: true, RootCAs: pool})
			for range 3 {
				if got := post(t, s, server.URL); !got.OK() || got.Response != name {
					t.Errorf("got %+v, want response %q", got, name)
				}
			}
			open.Wait() // until every connection is closed
		})
	}
}

// An endpoint can slow down or close a connection. So each attempt uses its own connection, even to the same host.
func TestConcurrentAttemptsUseSeparateConnections(t *testing.T) {
	t.Parallel()
	const attempts = 8
	var connections atomic.Int32
	var pending sync.WaitGroup
	pending.Add(attempts)
	handler := func(http.ResponseWriter, *http.Request) {
		pending.Done()
		pending.Wait() // until all requests have arrived
	}
	server, pool := startHTTPS(t, handler, func(s *httptest.Server) {
		s.EnableHTTP2 = true
		s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				connections.Add(1)
			}
		}
	})
	s := sender.New(sender.Options{AllowPrivate: true, RootCAs: pool})
	var sent sync.WaitGroup
	for range attempts {
		sent.Go(func() {
			if got := post(t, s, server.URL); !got.OK() {
				t.Errorf("got %+v, want a success", got)
			}
		})
	}
	sent.Wait()
	if n := connections.Load(); n != attempts {
		t.Errorf("got %d connections for %d attempts, want one for each", n, attempts)
	}
}

func TestCertificatesAreVerified(t *testing.T) {
	t.Parallel()
	ok := func(http.ResponseWriter, *http.Request) {}
	valid, pool := startHTTPS(t, ok, nil)
	expired, expiredPool := startHTTPS(t, ok, withCertificate(t, time.Now().Add(-time.Hour)))
	tls11, tls11Pool := startHTTPS(t, ok, func(s *httptest.Server) {
		s.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	})
	clientCert, clientCertPool := startHTTPS(t, ok, func(s *httptest.Server) {
		s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	})
	clientCert12, clientCert12Pool := startHTTPS(t, ok, func(s *httptest.Server) {
		s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}
	})
	plain := httptest.NewServer(http.HandlerFunc(ok))
	t.Cleanup(plain.Close)
	closing := listen(t, "127.0.0.1:0", func(c net.Conn) { _, _ = c.Read(make([]byte, 100)) })
	resolver := dnsServer(t, fixedNames(map[string][]string{"example.com": {"127.0.0.1"}, "other.test": {"127.0.0.1"}}))
	port := valid.URL[strings.LastIndex(valid.URL, ":"):]
	const invalid = "the certificate is not valid: "

	for _, tc := range []struct {
		name, url string
		pool      *x509.CertPool
		want      string
	}{
		{"name of the certificate", "https://example.com" + port, pool, ""},
		{"name with a trailing dot", "https://example.com." + port, pool, ""},
		{"address of the certificate", "https://127.0.0.1" + port, pool, ""},
		{"another name", "https://other.test" + port, pool, invalid + "it is for another host name"},
		{"unknown authority", valid.URL, x509.NewCertPool(), invalid + "it is signed by an unknown authority"},
		{"roots of the machine", valid.URL, nil, invalid + "it is signed by an unknown authority"},
		{"expired certificate", expired.URL, expiredPool, invalid + "it has expired or is not valid yet"},
		{"TLS 1.1", tls11.URL, tls11Pool, "the TLS handshake failed: protocol version not supported"},
		{"client certificate required", clientCert.URL, clientCertPool, "the TLS handshake failed: certificate required"},
		{
			"client certificate required, TLS 1.2", clientCert12.URL, clientCert12Pool,
			"the TLS handshake failed: handshake failure",
		},
		{"no TLS", strings.Replace(plain.URL, "http", "https", 1), nil, "the endpoint does not support TLS"},
		{"connection closed", "https://" + closing.address, nil, "the TLS handshake failed: the connection was closed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := post(t, sender.New(sender.Options{AllowPrivate: true, RootCAs: tc.pool, Resolver: resolver}), tc.url)
			if got.Error != tc.want || got.TimedOut {
				t.Errorf("got %+v, want error %q", got, tc.want)
			}
		})
	}
}

// The second handshake with a host name resumes the session of the first one. A handshake with another name does not.
// No session is stored if the certificate was rejected.
func TestTLSSessionsAreResumed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*httptest.Server){
		"TLS 1.3": nil,
		"HTTP/2":  withHTTP2,
		"TLS 1.2": func(s *httptest.Server) { s.TLS = &tls.Config{MaxVersion: tls.VersionTLS12} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, pool := startHTTPS(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, map[bool]string{true: "resumed", false: "new"}[r.TLS.DidResume])
			}, change)
			port := server.URL[strings.LastIndex(server.URL, ":"):]
			resolver := dnsServer(t, fixedNames(map[string][]string{
				"example.com": {"127.0.0.1"}, "www.example.com": {"127.0.0.1"}, "other.test": {"127.0.0.1"},
			}))
			s := sender.New(sender.Options{AllowPrivate: true, RootCAs: pool, Resolver: resolver})
			const otherName = "the certificate is not valid: it is for another host name"
			for _, tc := range []struct{ host, response, err string }{
				{"example.com", "new", ""},
				{"example.com", "resumed", ""},
				{"127.0.0.1", "new", ""}, // the same server and certificate, another name
				{"other.test", "", otherName},
				{"other.test", "", otherName},
				{"example.com", "resumed", ""},
				{"127.0.0.1", "resumed", ""},
			} {
				if got := post(t, s, "https://"+tc.host+port); got.Response != tc.response || got.Error != tc.err {
					t.Errorf("%s: got %+v, want response %q and error %q", tc.host, got, tc.response, tc.err)
				}
			}
			withoutRoots := sender.New(sender.Options{AllowPrivate: true, RootCAs: x509.NewCertPool(), Resolver: resolver})
			for range 2 {
				got := post(t, withoutRoots, "https://example.com"+port)
				if got.StatusCode != 0 || !strings.Contains(got.Error, "unknown authority") {
					t.Errorf("got %+v, want an error about an unknown authority", got)
				}
			}
		})
	}
}

// withCertificate returns a function that configures a server with a self-signed certificate that expires at end.
func withCertificate(t *testing.T, end time.Time) func(*httptest.Server) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "expired"}, NotBefore: end.Add(-time.Hour), NotAfter: end,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return func(s *httptest.Server) {
		s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	}
}

func TestHTTP2Failures(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	server, pool := startHTTPS(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			select {
			case <-r.Context().Done():
			case <-stop:
			}
		case "/slow", "/endless":
			w.WriteHeader(http.StatusOK)
			for pause := time.Duration(0); ; {
				if r.URL.Path == "/slow" {
					pause = shortTimeout / 8
				}
				_, err := io.WriteString(w, strings.Repeat("x", 1<<10))
				if err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
				select {
				case <-stop:
					return
				case <-time.After(pause):
				}
			}
		case "/truncated":
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case "/abort":
			panic(http.ErrAbortHandler)
		case "/large-header":
			w.Header().Set("X-Long", strings.Repeat("x", 100<<10))
		}
	}, withHTTP2)
	for _, tc := range []struct {
		path, want string
		timedOut   bool
	}{
		{"/hang", timedOut, true},
		{"/slow", timedOut, true},
		{"/endless", "", false},
		{"/truncated", incomplete, false},
		{"/abort", closed, false},
		{"/large-header", closed, false},
	} {
		t.Run(tc.path, func(t *testing.T) {
			t.Parallel()
			options := sender.Options{AllowPrivate: true, RootCAs: pool}
			if tc.timedOut {
				options.Timeout = shortTimeout
			}
			if got := post(t, sender.New(options), server.URL+tc.path); got.Error != tc.want || got.TimedOut != tc.timedOut {
				t.Errorf("got %+v, want error %q and TimedOut %t", got, tc.want, tc.timedOut)
			}
		})
	}
}

// By default, an HTTP/2 client repeats a request whose stream the server refused.
func TestRefusedHTTP2StreamIsNotRetried(t *testing.T) {
	t.Parallel()
	certificate, pool := startHTTPS(t, func(http.ResponseWriter, *http.Request) {}, nil)
	config := certificate.TLS.Clone()
	config.NextProtos = []string{"h2"}
	var streams atomic.Int32
	var goAway atomic.Bool
	var window atomic.Uint32 // bytes that the server may send before the client reads them
	e := listen(t, "127.0.0.1:0", func(conn net.Conn) {
		secured := tls.Server(conn, config)
		if _, err := io.ReadFull(secured, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		framer := http2.NewFramer(secured, secured)
		framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		_ = framer.WriteSettings()
		for {
			frame, err := framer.ReadFrame()
			if err != nil {
				return
			}
			if settings, ok := frame.(*http2.SettingsFrame); ok && !settings.IsAck() {
				size, _ := settings.Value(http2.SettingInitialWindowSize)
				window.Store(size)
			}
			if headers, ok := frame.(*http2.MetaHeadersFrame); ok {
				streams.Add(1)
				_ = framer.WriteRSTStream(headers.StreamID, http2.ErrCodeRefusedStream)
				if goAway.Load() {
					_ = framer.WriteGoAway(0, http2.ErrCodeNo, nil)
				}
			}
		}
	})
	s := sender.New(sender.Options{AllowPrivate: true, RootCAs: pool, Timeout: 10 * shortTimeout})
	for _, away := range []bool{true, false} {
		goAway.Store(away)
		streams.Store(0)
		got := s.Send(t.Context(), sender.Request{URL: "https://" + e.address, Body: []byte("{}")})
		if got.Error != closed || streams.Load() != 1 {
			t.Errorf("got %+v after %d streams, want error %q after 1", got, streams.Load(), closed)
		}
	}
	if n := e.accepted.Load(); n != 2 {
		t.Errorf("got %d connections, want one for each of 2 attempts", n)
	}
	if window.Load() != 64<<10 {
		t.Errorf("the initial window has %d bytes, want %d", window.Load(), 64<<10)
	}
}

// The endpoint receives the method, the URL, the headers and the body of the request, and no other headers.
func TestReceivedRequest(t *testing.T) {
	t.Parallel()
	received := make(chan *http.Request, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		w.Header().Set("Set-Cookie", "a=b; Path=/")
		received <- r
	}))
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	resolver := dnsServer(t, func(string) []netip.Addr { return []netip.Addr{netip.MustParseAddr("127.0.0.1")} })
	s := sender.New(sender.Options{AllowPrivate: true, Resolver: resolver})
	header := http.Header{"X-Service-Event": {"webhook.test"}, "Content-Type": {"text/plain"}, "Webhook-Id": {"evt_1"}}
	for range 2 {
		got := s.Send(t.Context(), sender.Request{
			URL: "http://receiver.test:" + port + "/hook?a=b#part", Header: header, Body: []byte(`{"id":"evt_1"}`),
		})
		r := <-received
		body, _ := io.ReadAll(r.Body)
		if !got.OK() {
			t.Errorf("got %+v, want a success", got)
		}
		request := r.Method + " " + r.Host + r.RequestURI + " " + string(body)
		if want := "POST receiver.test:" + port + `/hook?a=b {"id":"evt_1"}`; request != want {
			t.Errorf("got request %s, want %s", request, want)
		}
		want := map[string]string{
			"Content-Type": "application/json", "User-Agent": "devplatform-webhooks/1", "X-Service-Event": "webhook.test",
			"Webhook-Id": "evt_1", "Content-Length": "14", "Connection": "close",
		}
		for name := range r.Header {
			if _, ok := want[name]; !ok {
				t.Errorf("unexpected header %s: %s", name, r.Header.Get(name))
			}
		}
		for name, value := range want {
			if r.Header.Get(name) != value {
				t.Errorf("%s: got %q, want %q", name, r.Header.Get(name), value)
			}
		}
	}
	if header.Get("Content-Type") != "text/plain" || len(header) != 3 {
		t.Errorf("Send changed the header of the request: %v", header)
	}
}
