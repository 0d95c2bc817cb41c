package httpapi

import (
	"context"
	"net/netip"
)

// RequestInfo is what the gateway knows about a request. Nothing in it can be set by the client,
// UserAgent apart.
type RequestInfo struct {
	// RequestID is the gateway's, shown to the client as X-Request-Id and written to every log line.
	RequestID string
	// SourceIP is the address that the gateway saw, never a forwarded one.
	SourceIP string
	// UserAgent is the client's name for itself.
	UserAgent string
	// HTTPS says whether the client spoke https with the gateway.
	HTTPS bool
	// BaseURL is where the service is reached, without a slash at the end: APP_URL,
	// or else scheme, host and stage of the gateway; the stage alone where the client named no host.
	BaseURL string
}

type infoKey struct{}

// WithRequestInfo hands out a context that carries the info.
func WithRequestInfo(ctx context.Context, info RequestInfo) context.Context {
	return context.WithValue(ctx, infoKey{}, info)
}

// RequestInfoFrom is the info of the request that is being served; zero outside of one.
func RequestInfoFrom(ctx context.Context) RequestInfo {
	info, _ := ctx.Value(infoKey{}).(RequestInfo)
	return info
}

// RateKey is the name under which attempts from an address are counted: the address itself for IPv4, its /64 for
// IPv6, of which every customer has a whole one. What is no address counts as one and the same.
func RateKey(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return "unknown"
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return addr.String()
	}
	network, err := addr.Prefix(64)
	if err != nil {
		return "unknown"
	}
	return network.String()
}
