package sender

import (
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"devplatform/shared/retryafter"
)

// retryAfter returns the wait that a 429 or 503 requests. It returns 0 for other responses, and if the header is not
// valid.
func (s *Sender) retryAfter(response *http.Response) time.Duration {
	if response.StatusCode != http.StatusTooManyRequests && response.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	wait, _ := retryafter.Parse(response.Header.Get("Retry-After"), s.options.Now())
	return wait
}

// printable returns the beginning of a response body in a form that is safe to store as JSON and to print to a
// terminal: at most maxKept bytes of UTF-8, with lines that end in \n. Each sequence of invalid or unprintable
// characters, such as those that control a terminal or change the writing direction, is replaced with one U+FFFD.
func printable(body []byte) string {
	var text strings.Builder
	text.Grow(min(len(body), maxKept))
	afterReplacement := false
	for len(body) > 0 {
		r, size := utf8.DecodeRune(body)
		isReplaced := r == utf8.RuneError || !isText(r)
		body = body[size:]
		if r == '\r' && len(body) > 0 && body[0] == '\n' || isReplaced && afterReplacement {
			continue
		}
		afterReplacement = isReplaced
		if isReplaced {
			r = utf8.RuneError
		}
		if text.Len()+utf8.RuneLen(r) > maxKept {
			break
		}
		text.WriteRune(r)
	}
	return text.String()
}

// isText reports whether a character is text. The two joiners are invisible, but emoji and several scripts need them.
func isText(r rune) bool {
	const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'
	switch r {
	case '\n', '\t', zeroWidthNonJoiner, zeroWidthJoiner:
		return true
	}
	return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r)
}
