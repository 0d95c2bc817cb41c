package gateway_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"devplatform/infra/local/gateway"
)

func TestCertificateIsKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tls")
	first, err := gateway.LoadOrMakeCertificate(dir, clock)
	if err != nil {
		t.Fatal(err)
	}
	key, isECDSA := first.PrivateKey.(*ecdsa.PrivateKey)
	if !isECDSA || key.Curve != elliptic.P256() {
		t.Errorf("key is %T", first.PrivateKey)
	}
	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		if err := first.Leaf.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	if life := first.Leaf.NotAfter.Sub(clock()); life < 365*24*time.Hour || life > 2*365*24*time.Hour {
		t.Errorf("life of %v", life)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	info, err := files[0].Info()
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	again, err := gateway.LoadOrMakeCertificate(dir, clock)
	if err != nil || !again.Leaf.Equal(first.Leaf) {
		t.Errorf("another certificate, %v", err)
	}
}

func TestCertificateIsReplaced(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		later   time.Duration
		content string
	}{
		"expired":      {later: 500 * 24 * time.Hour},
		"near its end": {later: 380 * 24 * time.Hour},
		"not yet":      {later: -48 * time.Hour},
		"broken":       {content: "-----BEGIN CERTIFICATE-----\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first, err := gateway.LoadOrMakeCertificate(dir, clock)
			if err != nil {
				t.Fatal(err)
			}
			if test.content != "" {
				files, _ := os.ReadDir(dir)
				if err := os.WriteFile(filepath.Join(dir, files[0].Name()), []byte(test.content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			second, err := gateway.LoadOrMakeCertificate(dir, func() time.Time { return clock().Add(test.later) })
			if err != nil || second.Leaf.Equal(first.Leaf) {
				t.Errorf("the same certificate, %v", err)
			}
		})
	}
}

// TestCertificateFolder has a file in place of the folder.
func TestCertificateFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := gateway.LoadOrMakeCertificate(file, clock); err == nil {
		t.Error("no error")
	}
}

// TestHTTPS calls the server over HTTP/2, and verifies its certificate.
func TestHTTPS(t *testing.T) {
	t.Parallel()
	certificate, err := gateway.LoadOrMakeCertificate(t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
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
	roots.AddCert(certificate.Leaf)
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
