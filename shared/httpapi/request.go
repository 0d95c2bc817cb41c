package httpapi

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Caller is the authenticated user of a request.
type Caller struct {
	UserID     string
	SessionID  string
	LoggedInAt time.Time // when the session started
	Generation int       // of the session: a password change ends the sessions of earlier generations
	Email      string
	Username   string
	CreatedAt  time.Time // of the account
}

// RequestInfo contains the data about a request that the gateway provides. Clients control only UserAgent.
type RequestInfo struct {
	// RequestID is the gateway's request ID. It is returned as X-Request-Id and logged with the request.
	RequestID string
	// SourceIP is the address of the client's connection to the gateway, or the address that a trusted Proxy sent.
	SourceIP string
	// UserAgent is the User-Agent header.
	UserAgent string
	// HTTPS reports whether the client used HTTPS to reach the gateway.
	HTTPS bool
	// BaseURL is the URL at which clients reach the service, without a trailing slash: APP_URL if it is set, otherwise
	// the gateway's scheme, host and stage, such as https://api.example.com/prod. If the host is unknown, BaseURL
	// contains only the stage, such as /prod.
	BaseURL string
}

type infoKey struct{}

// WithRequestInfo returns a context that carries the info.
func WithRequestInfo(ctx context.Context, info RequestInfo) context.Context {
	return context.WithValue(ctx, infoKey{}, info)
}

// RequestInfoFrom returns the info of the current request. Outside of a request, it returns the zero RequestInfo.
func RequestInfoFrom(ctx context.Context) RequestInfo {
	info, _ := ctx.Value(infoKey{}).(RequestInfo)
	return info
}

// info returns the request info that the Lambda adapter stored in the context. If there is none, because the router
// runs in an ordinary HTTP server, info derives it from the connection.
func (e *edge) info(r *http.Request) RequestInfo {
	info := RequestInfoFrom(r.Context())
	if info.RequestID == "" {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			host = r.RemoteAddr
		}
		info = RequestInfo{RequestID: rand.Text(), SourceIP: host, UserAgent: r.UserAgent(), HTTPS: r.TLS != nil}
		info.BaseURL = BaseURL(info.HTTPS, r.Host, "")
	}
	if app := e.cfg.Edge.AppURL; app != "" {
		info.BaseURL = string(app)
	}
	return info
}

// BaseURL returns the URL of a gateway's stage. stage is the first part of the path, such as /prod, or empty. If host
// is empty, BaseURL returns only the stage, which is a relative URL.
func BaseURL(https bool, host, stage string) string {
	if host == "" {
		return stage
	}
	scheme := "http://"
	if https {
		scheme = "https://"
	}
	return scheme + host + stage
}

// RateKey returns the key of a client's IP address for rate limits. The key is the address itself for IPv4, and its /64
// network for IPv6, because internet providers assign whole networks to customers. All invalid addresses share one key.
func RateKey(ip string) string {
	const unknown = "unknown"
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return unknown
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return addr.String()
	}
	network, err := addr.Prefix(64)
	if err != nil {
		return unknown
	}
	return network.String()
}
