package sender_test

import (
	"context"
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

// secure starts an HTTPS endpoint and returns a pool with its certificate, which is for example.com and the loopback
// addresses. change may be nil.
func secure(t testing.TB, handler http.HandlerFunc, change func(*httptest.Server)) (*httptest.Server, *x509.CertPool) {
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
			server, pool := secure(t, func(w http.ResponseWriter, r *http.Request) {
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
					t.Errorf("%+v", got)
				}
			}
			open.Wait() // no connection is kept
		})
	}
}

// An endpoint can slow down or close its connection. That must not affect another webhook on the same host.
func TestConcurrentAttemptsUseSeparateConnections(t *testing.T) {
	t.Parallel()
	const attempts = 8
	var connections atomic.Int32
	var together sync.WaitGroup
	together.Add(attempts)
	server, pool := secure(t, func(http.ResponseWriter, *http.Request) { together.Done(); together.Wait() }, func(s *httptest.Server) {
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
				t.Errorf("%+v", got)
			}
		})
	}
	sent.Wait()
	if n := connections.Load(); n != attempts {
		t.Errorf("%d connections for %d attempts", n, attempts)
	}
}

func TestCertificatesAreVerified(t *testing.T) {
	t.Parallel()
	ok := func(http.ResponseWriter, *http.Request) {}
	good, pool := secure(t, ok, nil)
	old, oldPool := secure(t, ok, withCertificate(t, time.Now().Add(-time.Hour)))
	early, earlyPool := secure(t, ok, func(s *httptest.Server) {
		s.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	})
	asking, askingPool := secure(t, ok, func(s *httptest.Server) { s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert} })
	asking12, asking12Pool := secure(t, ok, func(s *httptest.Server) {
		s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}
	})
	plain := httptest.NewServer(http.HandlerFunc(ok))
	t.Cleanup(plain.Close)
	gone := listen(t, "127.0.0.1:0", func(c net.Conn) { _, _ = c.Read(make([]byte, 100)) })
	resolver := dnsServer(t, fixedNames(map[string][]string{"example.com": {"127.0.0.1"}, "other.test": {"127.0.0.1"}}))
	port := good.URL[strings.LastIndex(good.URL, ":"):]

	for _, tc := range []struct {
		name, url string
		pool      *x509.CertPool
		want      string
	}{
		{"a name of the certificate", "https://example.com" + port, pool, ""},
		{"a name with a dot at its end", "https://example.com." + port, pool, ""},
		{"an address of the certificate", "https://127.0.0.1" + port, pool, ""},
		{"another name", "https://other.test" + port, pool, "the certificate is not valid: it is for another host name"},
		{"an unknown authority", good.URL, x509.NewCertPool(), "the certificate is not valid: it is signed by an unknown authority"},
		{"not in the root certificates of the machine", good.URL, nil, "the certificate is not valid: it is signed by an unknown authority"},
		{"an expired certificate", old.URL, oldPool, "the certificate is not valid: it has expired or is not valid yet"},
		{"TLS 1.1", early.URL, earlyPool, "the TLS handshake failed: protocol version not supported"},
		{"a client certificate is required", asking.URL, askingPool, "the TLS handshake failed: certificate required"},
		{"a client certificate is required, TLS 1.2", asking12.URL, asking12Pool, "the TLS handshake failed: handshake failure"},
		{"no TLS", strings.Replace(plain.URL, "http", "https", 1), nil, "the endpoint does not support TLS"},
		{"a connection that is closed", "https://" + gone.address, nil, "the TLS handshake failed: the connection was closed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := post(t, sender.New(sender.Options{AllowPrivate: true, RootCAs: tc.pool, Resolver: resolver}), tc.url)
			if got.Error != tc.want || got.TimedOut {
				t.Errorf("%+v, want %q", got, tc.want)
			}
		})
	}
}

// The second handshake with a host name resumes the session of the first one. A handshake with another name does not.
// No session is stored if the certificate was rejected.
func TestTLSSessionsAreResumed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*httptest.Server){
		"TLS 1.3": nil, "HTTP/2": withHTTP2, "TLS 1.2": func(s *httptest.Server) { s.TLS = &tls.Config{MaxVersion: tls.VersionTLS12} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, pool := secure(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, map[bool]string{true: "resumed", false: "new"}[r.TLS.DidResume])
			}, change)
			port := server.URL[strings.LastIndex(server.URL, ":"):]
			resolver := dnsServer(t, fixedNames(map[string][]string{"example.com": {"127.0.0.1"}, "www.example.com": {"127.0.0.1"}, "other.test": {"127.0.0.1"}}))
			s := sender.New(sender.Options{AllowPrivate: true, RootCAs: pool, Resolver: resolver})
			const refused = "the certificate is not valid: it is for another host name"
			for _, tc := range []struct{ host, response, err string }{
				{"example.com", "new", ""},
				{"example.com", "resumed", ""},
				{"127.0.0.1", "new", ""}, // the same server and certificate by another name
				{"other.test", "", refused},
				{"other.test", "", refused},
				{"example.com", "resumed", ""},
				{"127.0.0.1", "resumed", ""},
			} {
				if got := post(t, s, "https://"+tc.host+port); got.Response != tc.response || got.Error != tc.err {
					t.Errorf("%s: %+v, want %q, %q", tc.host, got, tc.response, tc.err)
				}
			}
			distrusting := sender.New(sender.Options{AllowPrivate: true, RootCAs: x509.NewCertPool(), Resolver: resolver})
			for range 2 {
				if got := post(t, distrusting, "https://example.com"+port); got.StatusCode != 0 || !strings.Contains(got.Error, "unknown authority") {
					t.Errorf("%+v", got)
				}
			}
		})
	}
}

// withCertificate returns an option that gives the server a self-signed certificate that expires at end.
func withCertificate(t *testing.T, end time.Time) func(*httptest.Server) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "old"}, NotBefore: end.Add(-time.Hour), NotAfter: end,
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
	server, pool := secure(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			select {
			case <-r.Context().Done():
			case <-stop:
			}
		case "/drip", "/huge":
			w.WriteHeader(http.StatusOK)
			for pause := time.Duration(0); ; {
				if r.URL.Path == "/drip" {
					pause = shortTimeout / 8
				}
				if _, err := io.WriteString(w, strings.Repeat("x", 1<<10)); err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
				select {
				case <-stop:
					return
				case <-time.After(pause):
				}
			}
		case "/cut":
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case "/abort":
			panic(http.ErrAbortHandler)
		case "/header":
			w.Header().Set("X-Long", strings.Repeat("x", 100<<10))
		}
	}, withHTTP2)
	for _, tc := range []struct {
		path, want string
		timedOut   bool
	}{
		{"/hang", timedOut, true},
		{"/drip", timedOut, true},
		{"/huge", "", false},
		{"/cut", incomplete, false},
		{"/abort", closed, false},
		{"/header", closed, false},
	} {
		t.Run(tc.path, func(t *testing.T) {
			t.Parallel()
			options := sender.Options{AllowPrivate: true, RootCAs: pool}
			if tc.timedOut {
				options.Timeout = shortTimeout
			}
			if got := post(t, sender.New(options), server.URL+tc.path); got.Error != tc.want || got.TimedOut != tc.timedOut {
				t.Errorf("%+v", got)
			}
		})
	}
}

// An HTTP/2 client can repeat a request, on the same connection or a new one, if the server refused its stream.
func TestRefusedHTTP2StreamIsNotRetried(t *testing.T) {
	t.Parallel()
	certificate, pool := secure(t, func(http.ResponseWriter, *http.Request) {}, nil)
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
			t.Errorf("%+v after %d streams", got, streams.Load())
		}
	}
	if n := e.accepted.Load(); n != 2 {
		t.Errorf("%d connections for 2 attempts", n)
	}
	if window.Load() != 64<<10 {
		t.Errorf("the initial window is %d bytes", window.Load())
	}
}

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
		got := s.Send(t.Context(), sender.Request{URL: "http://receiver.test:" + port + "/hook?a=b#part", Header: header, Body: []byte(`{"id":"evt_1"}`)})
		r := <-received
		body, _ := io.ReadAll(r.Body)
		if !got.OK() || r.Method != http.MethodPost || r.Host != "receiver.test:"+port || r.RequestURI != "/hook?a=b" || string(body) != `{"id":"evt_1"}` {
			t.Errorf("%+v: %s %s of %s: %s", got, r.Method, r.RequestURI, r.Host, body)
		}
		want := map[string]string{
			"Content-Type": "application/json", "User-Agent": "devplatform-webhooks/1", "X-Service-Event": "webhook.test", "Webhook-Id": "evt_1",
			"Content-Length": "14", "Connection": "close",
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
		t.Errorf("the caller's header was changed: %v", header)
	}
	named := sender.New(sender.Options{AllowPrivate: true, UserAgent: "other/2"})
	if named.Send(context.Background(), sender.Request{URL: server.URL}); (<-received).UserAgent() != "other/2" {
		t.Error("the User-Agent of the options was not sent")
	}
}
