package gateway

import (
	"net/http"
	"net/url"
	"strings"
)

// target is the request target in wire form.
type target struct {
	path  string // percent-encoded, ASCII
	query string // as sent, without the question mark
}

// requestTarget returns the target of the request line, which net/url decodes and encodes again in r.URL.
// A target with an invalid percent-encoding is refused, as on AWS.
func requestTarget(r *http.Request) (target, error) {
	path, query, _ := strings.Cut(r.RequestURI, "?")
	if !strings.HasPrefix(path, "/") { // absolute form (RFC 9112, section 3.2.2), or "*"
		path, query = r.URL.EscapedPath(), r.URL.RawQuery
		if path == "" {
			path = "/"
		}
	}
	path, ok := wirePath(path)
	if !ok {
		return target{}, errBadRequest
	}
	return target{path: path, query: query}, nil
}

const upperHex = "0123456789ABCDEF"

// wirePath percent-encodes the bytes that a path may not contain. It returns false if a percent-encoding of the path is
// not valid.
func wirePath(path string) (string, bool) {
	var b strings.Builder
	b.Grow(len(path))
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '%':
			if i+2 >= len(path) || !isHex(path[i+1]) || !isHex(path[i+2]) {
				return "", false
			}
			b.WriteByte(c)
		case pathByte(c):
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		}
	}
	return b.String(), true
}

// pathByte reports whether a path may contain c without encoding (pchar of RFC 3986, and the slash).
func pathByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.IndexByte("/-._~!$&'()*+,;=:@", c) >= 0
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// parseQuery decodes a query string as API Gateway does: '+' is a space, a semicolon separates as an ampersand does,
// and a name without "=" has the empty value. Invalid percent-encodings, and bytes that API Gateway refuses ("|", "{"
// and "}"), are a bad request. Bytes that are not UTF-8 are replaced by U+FFFD.
func parseQuery(query string) (map[string][]string, error) {
	var parameters map[string][]string
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, ok := decodeQuery(rawName)
		value, valid := decodeQuery(rawValue)
		if !ok || !valid {
			return nil, errBadRequest
		}
		if parameters == nil {
			parameters = map[string][]string{}
		}
		parameters[name] = append(parameters[name], value)
	}
	return parameters, nil
}

func decodeQuery(s string) (string, bool) {
	if strings.ContainsAny(s, "|{}") {
		return "", false
	}
	decoded, err := url.QueryUnescape(s)
	return strings.ToValidUTF8(decoded, "\uFFFD"), err == nil
}
