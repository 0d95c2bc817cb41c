package gateway

import (
	"net/url"
	"strings"
)

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
