package gateway_test

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"devplatform/infra/local/gateway"
)

// TestHTTPS calls the server over HTTP/2, and verifies its certificate.
func TestHTTPS(t *testing.T) {
	t.Parallel()
	certificate, err := gateway.NewCertificate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(certificate.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		if err := leaf.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	f := &function{respond: buffered(ok)}
	g := newGateway(t, f, gateway.Options{API: apiOf(anyRoute("/x"))})
	server := gateway.NewServer(g, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}, slog.New(slog.DiscardHandler))
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.ServeTLS(listener, "", "") }()
	t.Cleanup(func() { _ = server.Close() })

	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
	}}
	t.Cleanup(client.CloseIdleConnections)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+listener.Addr().String()+"/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.ProtoMajor != 2 || response.StatusCode != http.StatusOK {
		t.Errorf("%s %d", response.Proto, response.StatusCode)
	}
	event := f.event(t)
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	headers := at(t, event, "headers")
	if headers["X-Forwarded-Proto"] != "https" || headers["X-Forwarded-Port"] != port || headers["Host"] != listener.Addr().String() {
		t.Errorf("headers %v", headers)
	}
	if context := at(t, event, "requestContext"); context["domainName"] != listener.Addr().String() {
		t.Errorf("domainName %v", context["domainName"])
	}
}
