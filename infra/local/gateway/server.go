package gateway

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"time"
)

const (
	// readHeaderTimeout is how long a client may take for the TLS handshake and its headers.
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 350 * time.Second // like API Gateway
	// maxWireHeaders is above API Gateway's limit, so that too large headers get a gateway response.
	maxWireHeaders = 64 << 10
)

// NewServer returns a server for handler with time-outs against slow clients. tlsConfig is nil for plain http. With
// TLS, the server offers HTTP/2. There is no write time-out: a streamed response may take as long as its route allows.
func NewServer(handler http.Handler, tlsConfig *tls.Config, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:                      handler,
		TLSConfig:                    tlsConfig,
		ReadHeaderTimeout:            readHeaderTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxWireHeaders,
		ErrorLog:                     slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
		DisableGeneralOptionsHandler: true, // the API refuses OPTIONS *
	}
}
