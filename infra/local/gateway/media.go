package gateway

import "strings"

// binaryTypes are the API's binary media types: "*/*", "image/*" or "image/png", in lower case.
type binaryTypes []string

func newBinaryTypes(types []string) binaryTypes {
	out := make(binaryTypes, len(types))
	for i, t := range types {
		out[i] = strings.ToLower(strings.ReplaceAll(t, "~1", "/")) // the escaped slash of a template
	}
	return out
}

// match reports whether a media type without parameters is binary. A body without a type matches "*/*" only.
func (b binaryTypes) match(mediaType string) bool {
	for _, pattern := range b {
		family, wild := strings.CutSuffix(pattern, "/*")
		if pattern == "*/*" || pattern == mediaType || wild && strings.HasPrefix(mediaType, family+"/") {
			return true
		}
	}
	return false
}

// firstMediaType returns the first media type of a Content-Type or Accept header, in lower case and without parameters.
func firstMediaType(header []string) string {
	if len(header) == 0 {
		return ""
	}
	first, _, _ := strings.Cut(header[0], ",")
	first, _, _ = strings.Cut(first, ";")
	return strings.ToLower(strings.TrimSpace(first))
}
