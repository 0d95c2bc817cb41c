package sender

import (
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"devplatform/shared/retryafter"
)

// retryAfter returns the wait that a 429 or 503 asks for; 0 for other responses, and if the header is not valid.
func (s *Sender) retryAfter(response *http.Response) time.Duration {
	if response.StatusCode != http.StatusTooManyRequests && response.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	wait, _ := retryafter.Parse(response.Header.Get("Retry-After"), s.options.Now())
	return wait
}

// printable returns the beginning of a response body in a form that is safe for people, JSON and terminals: at most
// maxKept bytes of UTF-8, with lines that end in \n. Each run of bytes that are not text, or that would control a
// terminal or change the writing direction, is replaced by one U+FFFD.
func printable(body []byte) string {
	var text strings.Builder
	text.Grow(min(len(body), maxKept))
	replaced := false
	for len(body) > 0 {
		r, size := utf8.DecodeRune(body)
		bad := r == utf8.RuneError || !shown(r)
		body = body[size:]
		if r == '\r' && len(body) > 0 && body[0] == '\n' || bad && replaced {
			continue
		}
		replaced = bad
		if bad {
			r = utf8.RuneError
		}
		if text.Len()+utf8.RuneLen(r) > maxKept {
			break
		}
		text.WriteRune(r)
	}
	return text.String()
}

// shown reports whether a character is text. The two joiners are invisible, but emoji and several scripts need them.
func shown(r rune) bool {
	const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'
	switch r {
	case '\n', '\t', zeroWidthNonJoiner, zeroWidthJoiner:
		return true
	}
	return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r)
}
