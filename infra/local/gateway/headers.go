package gateway

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

const (
	headerForwardedFor   = "X-Forwarded-For"
	headerForwardedPort  = "X-Forwarded-Port"
	headerForwardedProto = "X-Forwarded-Proto"
	headerTrace          = "X-Amzn-Trace-Id"
	headerRequestID      = "X-Amzn-Requestid"
	headerExtendedID     = "X-Amz-Apigw-Id"
	headerErrorType      = "X-Amzn-Errortype"
	headerContentType    = "Content-Type"
	remappedPrefix       = "X-Amzn-Remapped-"
	jsonType             = "application/json"
)

// droppedFromRequest are the headers of a request that API Gateway does not pass on, and the headers that it sets.
var droppedFromRequest = map[string]bool{
	"Connection": true, "Content-Length": true, "Content-Md5": true, "Expect": true, "Keep-Alive": true,
	"Max-Forwards": true, "Proxy-Authenticate": true, "Proxy-Connection": true, "Server": true, "Te": true,
	"Trailer": true, "Transfer-Encoding": true, "Upgrade": true, "Www-Authenticate": true,
	"Host": true, headerForwardedFor: true, headerForwardedPort: true, headerForwardedProto: true, headerTrace: true,
}

// remappedFromResponse are headers of the gateway itself. In a function's response, they get the name
// x-amzn-Remapped-<name>.
var remappedFromResponse = map[string]bool{
	"Connection": true, "Content-Length": true, "Date": true, "Server": true, "Trailer": true, "Upgrade": true,
	headerRequestID: true, headerExtendedID: true, headerTrace: true,
}

// droppedFromResponse are headers that would break the framing of the response.
var droppedFromResponse = map[string]bool{"Transfer-Encoding": true, "Keep-Alive": true, "Proxy-Connection": true}

// headers returns the headers of the event: the headers of the client that are passed on, and the headers of the
// gateway.
func (q *request) headers() map[string][]string {
	headers := make(map[string][]string, len(q.Header)+5)
	for name, values := range q.Header {
		if !droppedFromRequest[name] && len(values) > 0 {
			headers[name] = values
		}
	}
	port, proto := q.listener()
	headers["Host"], headers[headerTrace] = []string{q.Host}, []string{q.ids.trace}
	forwarded := append(slices.Clip(q.Header[headerForwardedFor]), q.sourceIP)
	headers[headerForwardedFor] = []string{strings.Join(forwarded, ", ")}
	headers[headerForwardedPort], headers[headerForwardedProto] = []string{port}, []string{proto}
	return headers
}

// listener returns the port and the scheme of the request.
func (q *request) listener() (port, proto string) {
	port, proto = "80", "http"
	if q.TLS != nil {
		port, proto = "443", "https"
	}
	if addr, ok := q.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		if _, p, err := net.SplitHostPort(addr.String()); err == nil {
			port = p
		}
	}
	return port, proto
}

// headerSize returns the size of all header values of a request, which API Gateway limits.
func headerSize(r *http.Request) int {
	size := len(r.Host)
	for _, values := range r.Header {
		for _, value := range values {
			size += len(value)
		}
	}
	return size
}

// setHeader sets a header of a function's response, under the name that the client gets.
func setHeader(into http.Header, name string, values []string) error {
	for _, value := range values {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return fmt.Errorf("header %q cannot be sent", name)
		}
	}
	name = http.CanonicalHeaderKey(name)
	if droppedFromResponse[name] {
		return nil
	}
	if remappedFromResponse[name] {
		name = remappedPrefix + name
	}
	into[name] = append(into[name], values...)
	return nil
}
