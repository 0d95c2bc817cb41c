// Package tailwind finds what may be names of Tailwind CSS classes in the files of a project, as the scanner of
// Tailwind CSS 4 does. The compiler decides which of them are classes. Compiling does not belong here.
package tailwind

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// Candidates adds what may be names of classes in a file to a set, and the names of variables of CSS. Of style sheets,
// it adds only the variables that they use.
func Candidates(set map[string]bool, extension string, content []byte) {
	for line := range bytes.SplitSeq(prepare(extension, content), []byte("\n")) {
		t := text(line)
		t.variables(set, extension == "css")
		if extension != "css" {
			t.candidates(set)
		}
	}
}

// text is a line of a file. The methods that match a part of a line return the offset of the last byte of the part, or
// of the byte at which the line stops matching.
type text []byte

// at returns a byte, or 0 outside of the line.
func (t text) at(i int) byte {
	if i >= 0 && i < len(t) {
		return t[i]
	}
	return 0
}

func (t text) add(set map[string]bool, s span) {
	if name := t[s.start : s.end+1]; utf8.Valid(name) {
		set[string(name)] = true
	}
}

// variables adds the variables of CSS.
func (t text) variables(set map[string]bool, onlyUsed bool) {
	for i := 0; i < len(t); i++ {
		end, ok := t.variable(i)
		if ok && (!onlyUsed || bytes.HasSuffix(t[:i], []byte("var("))) {
			t.add(set, span{i, end})
		}
		i = end
	}
}

// span is a part of a line. end is the offset of its last byte.
type span struct{ start, end int }

// After about minRescan bytes and maxRescan times the length of a line, the line is not searched again after opening
// brackets. Otherwise, the time for a long line of lists would be quadratic.
const (
	minRescan = 4096
	maxRescan = 4
)

// candidates adds the candidates of a line that are not a part of another candidate.
func (t text) candidates(set map[string]bool) {
	var found []span
	rescanned := 0 // in bytes
	m := scanner{text: t, lastVariant: -1, lastBefore: len(t) - 1}
	for m.lastBefore >= 0 && !canPrecede(t[m.lastBefore]) {
		m.lastBefore--
	}
	for m.pos < len(t) {
		if isSpace(t[m.pos]) {
			m.pos++
			continue
		}
		before := m.pos
		s, ok := m.next()
		end := min(m.pos, len(t))
		if ok {
			found = append(found, s)
			end = s.start
		}
		for i := before; i < end; i++ {
			if t[i] == '[' && rescanned < minRescan+maxRescan*len(t) {
				var n int
				found, n = m.rescan(found, i+1, end)
				rescanned += n
			}
		}
		m.pos++
	}
	slices.SortFunc(found, func(a, b span) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	last := -1
	for _, s := range found {
		if s.end > last {
			t.add(set, s)
			last = s.end
		}
	}
}

// rescan adds the candidates that begin in a part of the line to found. n is the number of bytes that it searched.
func (m scanner) rescan(found []span, from, to int) (all []span, n int) {
	m.reset()
	for m.pos = from; m.pos < to; m.pos++ {
		if s, ok := m.next(); ok {
			found = append(found, s)
		}
	}
	return found, m.pos - from
}

// scanner finds the candidates of a line one after another.
type scanner struct {
	text

	pos         int
	start       int // of the variants before the utility
	lastVariant int // end of the last variant, or -1
	lastBefore  int // last byte of the line after which a candidate can begin, or -1
}

func (m *scanner) reset() { m.start, m.lastVariant = 0, -1 }

// next returns the next candidate. ok is false if there is none up to the position.
func (m *scanner) next() (s span, ok bool) {
	for m.pos < len(m.text) {
		c := m.text[m.pos]
		switch {
		case isSpace(c), c == ':', isQuote(c):
			m.reset()
			m.pos++
			continue
		case c == '<', c >= 'A' && c <= 'Z':
			m.reset()
			if m.pos > m.lastBefore {
				return s, false
			}
			m.moveTo(m.pos + slices.IndexFunc(m.text[m.pos:], canPrecede) + 1)
			continue
		}
		variant, isVariant := m.variant(m.pos)
		utility, isUtility := m.utility(m.pos)
		switch {
		case isUtility && !isVariant:
			return m.utilityAt(m.pos, utility)
		case isVariant:
			if s, done := m.variantAt(variant, utility, isUtility); done {
				return s, s != span{}
			}
		default:
			m.moveTo(max(m.pos, variant, utility))
			m.reset()
			m.pos++
		}
	}
	return s, false
}

func (m *scanner) moveTo(pos int) { m.pos = min(pos, len(m.text)) }

// utilityAt returns the candidate that ends with a utility, unless it is a part of something else.
func (m *scanner) utilityAt(start, end int) (s span, ok bool) {
	m.moveTo(end + 1)
	s = span{start, end}
	last := m.lastVariant
	if last >= 0 {
		s.start = m.start
	}
	m.reset()
	if last >= 0 && last+1 != start {
		return span{}, false
	}
	return s, canPrecede(m.at(s.start-1)) && canFollow(m.at(s.end+1))
}

// variantAt handles a variant at the position. done reports whether the search ends: with a candidate, or with a zero
// span.
func (m *scanner) variantAt(variant, utility int, isUtility bool) (s span, done bool) {
	start := m.pos
	m.moveTo(variant + 1)
	switch {
	case m.lastVariant >= 0 && (isUtility && m.lastVariant+1 != start || m.lastVariant+1 > start):
		m.reset()
		return span{}, true
	case m.lastVariant >= 0:
	case isUtility && (m.at(utility+2) == 0 || isSpace(m.at(utility+2))): // the key of an object
		m.moveTo(utility + 2)
		m.reset()
		return span{start, utility}, true
	default:
		m.start = start
	}
	m.lastVariant = variant
	return span{}, false
}

func isSpace(c byte) bool    { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }
func isQuote(c byte) bool    { return c == '"' || c == '\'' || c == '`' }
func isLower(c byte) bool    { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isWord(c byte) bool     { return isLower(c) || isDigit(c) || c >= 'A' && c <= 'Z' }
func isBoundary(c byte) bool { return isSpace(c) || isQuote(c) || c == 0 }

// canPrecede reports whether a candidate can begin after a byte.
func canPrecede(c byte) bool { return isBoundary(c) || c == '.' || c == '}' || c == '>' }

// canFollow reports whether a candidate can end before a byte.
func canFollow(c byte) bool {
	return isBoundary(c) || c == ']' || c == '{' || c == '=' || c == '\\' || c == '<'
}
