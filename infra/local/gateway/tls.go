package gateway

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"devplatform/infra/local/datafolder"
)

const (
	// certificateFile has the certificate and its key, so that they always match.
	certificateFile = "localhost.pem"
	// certificateLife is less than 825 days, the maximum that browsers accept.
	certificateLife = 397 * 24 * time.Hour
	// certificateMargin is the remaining time at which a certificate is replaced.
	certificateMargin = 30 * 24 * time.Hour
)

// LoadOrMakeCertificate returns the self-signed certificate for localhost, 127.0.0.1 and ::1 in dir. It creates one if
// there is none, or if it is not valid or expires within a month. The file has mode 0600
// and is replaced atomically. dir is created if it does not exist.
func LoadOrMakeCertificate(dir string, now func() time.Time) (tls.Certificate, error) {
	path := filepath.Join(dir, certificateFile)
	stored, err := os.ReadFile(path)
	switch {
	case err == nil:
		if certificate, usable := readCertificate(stored, now()); usable {
			return certificate, nil
		}
	case !errors.Is(err, fs.ErrNotExist):
		return tls.Certificate{}, fmt.Errorf("read the certificate: %w", err)
	}
	made, err := makeCertificate(now())
	if err != nil {
		return tls.Certificate{}, err
	}
	if err := datafolder.WriteFile(path, made, 0o600); err != nil {
		return tls.Certificate{}, fmt.Errorf("store the certificate: %w", err)
	}
	certificate, err := tls.X509KeyPair(made, made)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("new certificate: %w", err)
	}
	return certificate, nil
}

func readCertificate(stored []byte, now time.Time) (tls.Certificate, bool) {
	certificate, err := tls.X509KeyPair(stored, stored)
	if err != nil {
		return tls.Certificate{}, false
	}
	leaf := certificate.Leaf
	if now.Before(leaf.NotBefore) || now.Add(certificateMargin).After(leaf.NotAfter) {
		return tls.Certificate{}, false
	}
	return certificate, true
}

// makeCertificate returns a new certificate and its key as PEM.
func makeCertificate(now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("new certificate: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("new certificate: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "localhost", Organization: []string{"local platform"}},
		NotBefore:             now.Add(-time.Hour), // a client's clock may be slow
		NotAfter:              now.Add(certificateLife),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("new certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("new certificate: %w", err)
	}
	out := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return append(out, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...), nil
}
