// Package excerpt shortens texts to a number of bytes, between two characters. It imports no other package of the
// project.
package excerpt

import "unicode/utf8"

// Start returns the beginning of a text, with at most n bytes. It returns the whole text if the text is not longer.
func Start(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// End returns the end of a text, with at most n bytes. It returns the whole text if the text is not longer.
func End(text string, n int) string {
	from := max(0, len(text)-n)
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[from:]
}

// WithEllipsis is like Start, but appends an ellipsis if the text is longer.
func WithEllipsis(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return Start(text, n) + "…"
}
