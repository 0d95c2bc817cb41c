package scaffold

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tag is one of a document's, with the text up to the next one.
type tag struct {
	name    string // as written
	closing bool
	attrs   map[string]string // by lower-case name
	// text is what follows it: of script and style all of their content.
	text string
}

// scanMarkup takes HTML, or what is written like it, apart. It never fails.
func scanMarkup(src string) []tag {
	var tags []tag
	text := 0 // where the text behind the last tag begins
	for pos := 0; pos < len(src); {
		rest := src[pos:]
		switch {
		case rest[0] != '<':
			pos += indexOr(rest, "<", len(rest))
		case strings.HasPrefix(rest, "<!--"):
			pos = min(pos+indexOr(rest, "-->", len(rest))+3, len(src))
		case len(rest) > 1 && (rest[1] == '/' || rest[1] == '!' || isLetter(rest[1:])):
			if len(tags) > 0 {
				tags[len(tags)-1].text = src[text:pos]
			}
			t, after := readTag(rest)
			tags = append(tags, t)
			pos = len(src) - len(after)
			text = pos
			if low := strings.ToLower(t.name); !t.closing && (low == "script" || low == "style") {
				pos += endTag(after, low)
			}
		default:
			pos++
		}
	}
	if len(tags) > 0 {
		tags[len(tags)-1].text = src[text:]
	}
	return tags
}

// endTag is where the end tag of that name begins, or the end.
func endTag(s, name string) int {
	for i := 0; ; i += 2 {
		n := strings.Index(s[i:], "</")
		if n < 0 {
			return len(s)
		}
		if i += n; len(s) >= i+2+len(name) && strings.EqualFold(s[i+2:i+2+len(name)], name) {
			return i
		}
	}
}

func isLetter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}

// readTag reads a tag at the start of src, and what is left.
func readTag(src string) (tag, string) {
	t := tag{attrs: map[string]string{}}
	src = src[1:]
	if strings.HasPrefix(src, "/") {
		t.closing, src = true, src[1:]
	}
	end := strings.IndexFunc(src, func(r rune) bool { return unicode.IsSpace(r) || r == '>' || r == '/' })
	if end < 0 {
		end = len(src)
	}
	t.name, src = src[:end], src[end:]
	for src != "" {
		src = strings.TrimLeftFunc(src, func(r rune) bool { return unicode.IsSpace(r) || r == '/' })
		if strings.HasPrefix(src, ">") {
			return t, src[1:]
		}
		var name, value string
		name, value, src = readAttribute(src)
		if name != "" {
			t.attrs[strings.ToLower(name)] = value
		}
	}
	return t, src
}

// readAttribute reads name, name=value, name="value" and name={expression}.
func readAttribute(src string) (name, value, rest string) {
	end := strings.IndexFunc(src, func(r rune) bool { return unicode.IsSpace(r) || r == '>' || r == '=' || r == '{' })
	switch {
	case src == "":
		return "", "", ""
	case end < 0:
		return src, "", ""
	case end == 0 && src[0] == '{':
		return "", "", src[endOfBraces(src):]
	case end == 0:
		return "", "", src[1:]
	}
	name, src = src[:end], src[end:]
	after := strings.TrimLeftFunc(src, unicode.IsSpace)
	if !strings.HasPrefix(after, "=") {
		return name, "", src
	}
	src = strings.TrimLeftFunc(after[1:], unicode.IsSpace)
	if src == "" {
		return name, "", ""
	}
	switch quote := src[0]; quote {
	case '"', '\'':
		end := strings.IndexByte(src[1:], quote)
		if end < 0 {
			return name, src[1:], ""
		}
		return name, src[1 : end+1], src[end+2:]
	case '{':
		end := endOfBraces(src)
		return name, src[:end], src[end:]
	}
	end = strings.IndexFunc(src, func(r rune) bool { return unicode.IsSpace(r) || r == '>' })
	if end < 0 {
		end = len(src)
	}
	return name, src[:end], src[end:]
}

// endOfBraces is where the braces at the start of s close.
func endOfBraces(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}
