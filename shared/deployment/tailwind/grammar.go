package tailwind

import "slices"

// utility matches a utility, such as "flex", "-mt-2.5", "bg-[url(a)]/50!" or "[color:red]".
func (t text) utility(pos int) (end int, ok bool) {
	isImportant := t.at(pos) == '!'
	if isImportant {
		pos++
	}
	if t.at(pos) == '[' {
		end, ok = t.property(pos)
	} else {
		end, ok = t.utilityName(pos)
	}
	if ok && t.at(end+1) == '/' {
		if end, ok = t.modifier(end + 1); ok && t.at(end+1) == '/' {
			return end, false
		}
	}
	if ok && t.at(end+1) == '!' {
		return end + 1, !isImportant
	}
	return end, ok
}

// utilityName matches the name of a utility.
func (t text) utilityName(pos int) (end int, ok bool) {
	switch c, next := t.at(pos), t.at(pos+1); {
	case isLower(c) && isBoundary(next):
		return pos, true
	case isLower(c), c == '@', c == '-' && isLower(next):
		pos++
	default:
		return pos, false
	}
	for ; pos < len(t); pos++ {
		c, prev, next := t[pos], t.at(pos-1), t.at(pos+1)
		isEnd := canFollow(next) || next == ':' || next == '/' || next == '!'
		switch {
		case isDigit(c):
			switch {
			case prev != '-' && prev != '_' && prev != '.' && !isWord(prev):
				return pos, false
			case next != '.' && next != '%' && next != '_' && next != '-' && !isWord(next):
				return pos, true
			}
		case isWord(c):
			if isEnd {
				return pos, true
			}
		case c == '-' && next == '[':
			return t.value(pos + 1)
		case c == '-' && next == '(':
			return t.variableValue(pos + 1)
		case c == '-' && (isWord(next) || next == '-'), c == '_' && (isWord(next) || next == '_'),
			c == '.' && isDigit(prev) && isDigit(next):
		case c == '_' && isEnd, c == '%' && isDigit(prev):
			return pos, true
		default:
			return pos, false
		}
	}
	return pos, false
}

// variant matches a variant with its colon, such as "hover:", "group-data-[open]/name:" or "[&>p]:".
func (t text) variant(pos int) (end int, ok bool) {
	if t.at(pos) == '[' {
		if end, ok = t.value(pos); ok && t.at(end+1) == ':' {
			return end + 1, true
		}
		return end, false
	}
	switch c := t.at(pos); {
	case (isLower(c) || c == '*') && t.at(pos+1) == ':':
		return pos + 1, true
	case isLower(c), c == '*', isDigit(c), c == '@':
		pos++
	default:
		return pos, false
	}
	for ; pos < len(t); pos++ {
		c, prev, next := t[pos], t.at(pos-1), t.at(pos+1)
		switch {
		case c == '-' && next == '[':
			return t.variantEnd(t.value(pos + 1))
		case c == '-' && next == '(':
			return t.variantEnd(t.variableValue(pos + 1))
		case c == '[':
			return t.variantEnd(t.value(pos))
		case c == '/':
			return t.variantColon(t.modifier(pos))
		case c == ':':
			return pos, true
		case isWord(c), c == '*', (c == '-' || c == '_') && (isWord(next) || next == '-' || next == '_'),
			c == '.' && isDigit(prev) && isDigit(next):
		default:
			return pos, false
		}
	}
	return pos, false
}

// variantEnd matches what follows the value of a variant.
func (t text) variantEnd(pos int, ok bool) (int, bool) {
	if ok && t.at(pos+1) == '/' {
		pos, ok = t.modifier(pos + 1)
	}
	return t.variantColon(pos, ok)
}

// variantColon matches the colon after a variant.
func (t text) variantColon(pos int, ok bool) (int, bool) {
	if ok && t.at(pos+1) == ':' {
		return pos + 1, true
	}
	return pos, false
}

// modifier matches a modifier, such as "/50", "/name" or "/[0.3]".
func (t text) modifier(pos int) (end int, ok bool) {
	pos++
	switch c := t.at(pos); {
	case c == '[':
		return t.value(pos)
	case c == '(':
		return t.variableValue(pos)
	case !isWord(c):
		return pos, false
	}
	for {
		if next := t.at(pos + 1); !isWord(next) && next != '-' && next != '_' && next != '.' {
			return pos, true
		}
		pos++
	}
}

// value matches an arbitrary value, such as "[calc(1px+2px)]".
func (t text) value(pos int) (end int, ok bool) {
	start := pos
	return t.textWithBrackets(pos+1, func(c byte, pos int) verdict {
		if c == ']' && pos > start+1 {
			return matches
		}
		return undecided
	})
}

// variableValue matches an arbitrary variable, such as "(--size)" or "(length:--size,1px)".
func (t text) variableValue(pos int) (end int, ok bool) {
	pos++
	if isLower(t.at(pos)) {
		for isLower(t.at(pos)) || t.at(pos) == '-' {
			pos++
		}
		if t.at(pos) != ':' {
			return pos, false
		}
		pos++
	}
	if end, ok = t.variable(pos); !ok {
		return end, false
	}
	if t.at(end+1) != ',' {
		return end + 1, t.at(end+1) == ')'
	}
	return t.textWithBrackets(end+2, func(c byte, _ int) verdict {
		switch c {
		case ')':
			return matches
		case ':':
			return fails
		}
		return undecided
	})
}

// property matches an arbitrary property, such as "[color:red]".
func (t text) property(pos int) (end int, ok bool) {
	start := pos
	pos++
	for ; ; pos++ {
		c := t.at(pos)
		if c == '-' && t.at(pos+1) == '-' {
			if pos, ok = t.variable(pos); !ok || t.at(pos+1) != ':' {
				return pos, false
			}
			pos++
			break
		}
		if c == ':' && pos > start+1 {
			break
		}
		if c != '-' && !isLower(c) {
			return pos, false
		}
	}
	first := pos + 1
	return t.textWithBrackets(first, func(c byte, pos int) verdict {
		switch {
		case c == ']':
			return matches
		case c == ':', c == '!', c == '/' && pos == first:
			return fails
		}
		return undecided
	})
}

// verdict is the result of a match after a byte outside of brackets.
type verdict int

const (
	undecided verdict = iota
	matches
	fails
)

// closing has the closing bracket of each opening bracket.
var closing = [256]byte{'(': ')', '[': ']', '{': '}'}

// maxBrackets is the maximum number of nested brackets in a value.
const maxBrackets = 32

// textWithBrackets matches text without spaces in which brackets and strings are closed. outside decides about bytes
// that are in no brackets.
func (t text) textWithBrackets(pos int, outside func(c byte, pos int) verdict) (end int, ok bool) {
	var open []byte
	for ; pos < len(t); pos++ {
		c := t[pos]
		isClosing := c == ')' || c == ']' || c == '}'
		switch {
		case c == '\\':
			if isSpace(t.at(pos + 1)) {
				return pos, false
			}
			pos++
		case closing[c] != 0:
			if len(open) == maxBrackets {
				return pos, false
			}
			open = append(open, closing[c])
		case isClosing && len(open) > 0:
			last := len(open) - 1
			if open[last] != c {
				return pos, false
			}
			open = slices.Delete(open, last, last+1)
		case isQuote(c):
			if pos, ok = t.quotation(pos); !ok {
				return pos, false
			}
		case isSpace(c), c == '$' && t.at(pos+1) == '{':
			return pos, false
		case len(open) == 0:
			if v := outside(c, pos); v != undecided {
				return pos, v == matches
			}
		}
	}
	return pos, false
}

// quotation matches a string without spaces.
func (t text) quotation(pos int) (end int, ok bool) {
	quote := t[pos]
	for pos++; pos < len(t); pos++ {
		switch c := t[pos]; {
		case c == '\\' && isSpace(t.at(pos+1)), isSpace(c):
			return pos, false
		case c == '\\':
			pos++
		case c == quote:
			return pos, true
		}
	}
	return pos, false
}

// variable matches the name of a variable of CSS, such as "--size".
func (t text) variable(pos int) (end int, ok bool) {
	if t.at(pos) != '-' || t.at(pos+1) != '-' {
		return pos, false
	}
	start := pos
	for pos += 2; pos < len(t); pos++ {
		next := t.at(pos + 1)
		switch c := t[pos]; {
		case isName(c):
			if !isName(next) && next != '\\' {
				return pos, pos-start >= 2
			}
		case c != '\\' || isSpace(next) || next == 0:
			return pos, false
		default:
			pos++
		}
	}
	return pos, false
}

func isName(c byte) bool { return isWord(c) || c == '-' || c == '_' || c >= 0x80 }
