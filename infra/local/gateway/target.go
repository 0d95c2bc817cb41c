package gateway

import (
	"net/http"
	"strings"
)

// target is the request target in wire form.
type target struct {
	path  string // percent-encoded, ASCII
	query string // as sent, without the question mark
}

// requestTarget takes the target from the request line: net/url has decoded and re-encoded what r.URL holds.
// A target with a broken percent-encoding is refused, as on AWS.
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

// wirePath returns path with every byte percent-encoded that may not stand in a path, and false where one of its own
// percent-encodings is broken.
func wirePath(path string) (string, bool) {
	dirty := 0
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '%':
			if i+2 >= len(path) || !isHex(path[i+1]) || !isHex(path[i+2]) {
				return "", false
			}
			i += 2
		case !pathByte(c):
			dirty++
		}
	}
	if dirty == 0 {
		return path, true
	}
	var b strings.Builder
	b.Grow(len(path) + 2*dirty)
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' || pathByte(c) {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
	}
	return b.String(), true
}

// pathByte tells whether c may stand in a path as it is (RFC 3986's pchar, and the slash).
func pathByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("/-._~!$&'()*+,;=:@", c) >= 0
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// parameter is a name with its values, in the order in which they came.
type parameter struct {
	name   string
	values []string
}

// manyParameters is the number from which names are looked up in a map.
const manyParameters = 16

// parseQuery decodes a query string as API Gateway does: '+' is a space, a semicolon separates as an ampersand does, a name
// without "=" has the empty value. Broken percent-encodings and the bytes that API Gateway does not take raw ("|", "{",
// "}") are a bad request. What is not UTF-8 is replaced by U+FFFD.
func parseQuery(query string) ([]parameter, error) {
	var parameters []parameter
	var index map[string]int
	for query != "" {
		var pair string
		if i := strings.IndexAny(query, "&;"); i >= 0 {
			pair, query = query[:i], query[i+1:]
		} else {
			pair, query = query, ""
		}
		if pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, ok := decodeQuery(rawName)
		value, valid := decodeQuery(rawValue)
		if !ok || !valid {
			return nil, errBadRequest
		}
		if index == nil && len(parameters) == manyParameters {
			index = indexOf(parameters)
		}
		at := find(parameters, index, name)
		if at < 0 {
			at = len(parameters)
			parameters = append(parameters, parameter{name: name})
			if index != nil {
				index[name] = at
			}
		}
		parameters[at].values = append(parameters[at].values, value)
	}
	return parameters, nil
}

func indexOf(parameters []parameter) map[string]int {
	index := make(map[string]int, 4*len(parameters))
	for i, p := range parameters {
		index[p.name] = i
	}
	return index
}

func find(parameters []parameter, index map[string]int, name string) int {
	if index != nil {
		if at, ok := index[name]; ok {
			return at
		}
		return -1
	}
	for i := range parameters {
		if parameters[i].name == name {
			return i
		}
	}
	return -1
}

func decodeQuery(s string) (string, bool) {
	if strings.IndexByte(s, '%') < 0 && strings.IndexByte(s, '+') < 0 {
		if strings.ContainsAny(s, "|{}") {
			return "", false
		}
		return strings.ToValidUTF8(s, "\uFFFD"), true
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '|', '{', '}':
			return "", false
		case '+':
			b.WriteByte(' ')
		case '%':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return "", false
			}
			b.WriteByte(unhex(s[i+1])<<4 | unhex(s[i+2]))
			i += 2
		default:
			b.WriteByte(c)
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD"), true
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	default:
		return c - 'a' + 10
	}
}
