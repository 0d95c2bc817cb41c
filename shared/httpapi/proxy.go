package httpapi

import (
	"context"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"strings"
)

// Proxy is a reverse proxy, such as a CDN, through which clients reach the gateway. The gateway sees the proxy's
// address instead of the client's. The proxy sends the client's address in a header, and a secret that only the proxy
// knows in the header X-Proxy-Secret. The address must not be in X-Forwarded-For: proxies append to that header, so it
// can contain an address that the client sent.
type Proxy struct {
	// AddressHeader is the header with the client's address. If it is empty, there is no proxy.
	AddressHeader string
	// Secret returns the secret. If it returns "", no request counts as sent by the proxy.
	Secret func(context.Context) (string, error)
}

const proxySecretHeader = "X-Proxy-Secret"

// Handler returns a handler that replaces SourceIP in the request info with the client's address, if the proxy sent the
// request. For all other requests, SourceIP stays the address of the connection.
func (p Proxy) Handler(next http.Handler) http.Handler {
	if p.AddressHeader == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		switch isTrusted, err := p.isTrusted(r); {
		case err != nil:
			ctx = WithRejection(ctx, err)
		case isTrusted:
			if ip := p.clientIP(r); ip != "" {
				info := RequestInfoFrom(ctx)
				info.SourceIP = ip
				ctx = WithRequestInfo(ctx, info)
			}
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// isTrusted reports whether the proxy sent the request. It returns an error if the secret is not available: then the
// client's address is unknown.
func (p Proxy) isTrusted(r *http.Request) (bool, error) {
	sent := r.Header.Values(proxySecretHeader)
	if len(sent) != 1 {
		return false, nil
	}
	secret, err := p.Secret(r.Context())
	return secret != "" && subtle.ConstantTimeCompare([]byte(sent[0]), []byte(secret)) == 1, err
}

// clientIP returns the client's address from the header, or "" if it is not valid. The value of
// CloudFront-Viewer-Address is an address and a port, without brackets around an IPv6 address.
func (p Proxy) clientIP(r *http.Request) string {
	values := r.Header.Values(p.AddressHeader)
	if len(values) != 1 {
		return ""
	}
	text := strings.TrimSpace(values[0])
	if strings.EqualFold(p.AddressHeader, "CloudFront-Viewer-Address") {
		text = text[:max(strings.LastIndexByte(text, ':'), 0)]
	}
	addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return ""
	}
	return addr.WithZone("").String()
}
