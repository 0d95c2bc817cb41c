package assistant

import "strings"

// jsonPrefix checks, byte by byte, whether the text so far is the beginning of a JSON object (RFC 8259). It checks the
// grammar only. Duplicate names and invalid UTF-8 are detected later, when the whole text is decoded. The zero value is
// ready to use.
//
// jsontext.Decoder is not suitable: it reports errors per token, so it accepts "{1" and "{," until more text arrives.
// It also accepts further values after the object.
type jsonPrefix struct {
	state  jsonState
	open   []byte // the closing brackets that are still missing, the innermost last
	word   string // the missing characters of true, false or null
	hex    int    // the number of missing digits of \uXXXX
	isName bool   // the current string is a name
	broken bool   // the text is not the beginning of an object
}

type jsonState uint8

const (
	jsonStart          jsonState = iota // before the object's opening brace
	jsonValue                           // before a value
	jsonValueOrEnd                      // before a value or the end of an empty array
	jsonName                            // before a name
	jsonNameOrEnd                       // before a name or the end of an empty object
	jsonColon                           // before the colon after a name
	jsonAfterValue                      // before a comma or a closing bracket
	jsonString                          // inside a string
	jsonEscape                          // after a backslash
	jsonHex                             // inside \uXXXX
	jsonWord                            // inside true, false or null
	jsonMinus                           // after the minus sign of a number
	jsonZero                            // after the leading zero of a number
	jsonInteger                         // after an integer digit
	jsonPoint                           // after the decimal point
	jsonFraction                        // after a digit of the fraction
	jsonExponent                        // after the e of an exponent
	jsonExponentSign                    // after the sign of an exponent
	jsonExponentDigits                  // after a digit of an exponent
	jsonEnd                             // after the object
)

// accept adds text and reports whether all text so far is the beginning of a JSON object.
func (j *jsonPrefix) accept(text string) bool {
	for i := 0; i < len(text) && !j.broken; i++ {
		j.broken = !j.next(text[i])
	}
	return !j.broken
}

func isSpace(c byte) bool { return strings.IndexByte(" \t\r\n", c) >= 0 }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isHex(c byte) bool   { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// next adds one byte and reports whether it is valid at this position.
func (j *jsonPrefix) next(c byte) bool {
	switch j.state {
	case jsonString, jsonEscape, jsonHex:
		return j.inString(c)
	case jsonWord:
		return j.inWord(c)
	case jsonMinus, jsonZero, jsonInteger, jsonPoint, jsonFraction, jsonExponent, jsonExponentSign, jsonExponentDigits:
		return j.inNumber(c)
	}
	if isSpace(c) {
		return true
	}
	switch j.state {
	case jsonStart:
		return c == '{' && j.beginValue(c)
	case jsonValueOrEnd:
		if c == ']' {
			return j.closeBracket(c)
		}
		return j.beginValue(c)
	case jsonValue:
		return j.beginValue(c)
	case jsonNameOrEnd, jsonName:
		if c == '}' && j.state == jsonNameOrEnd {
			return j.closeBracket(c)
		}
		j.state, j.isName = jsonString, true
		return c == '"'
	case jsonColon:
		j.state = jsonValue
		return c == ':'
	case jsonAfterValue:
		return j.afterValue(c)
	default:
		return false
	}
}

// beginValue adds the first byte of a value.
func (j *jsonPrefix) beginValue(c byte) bool {
	switch {
	case c == '{':
		j.open, j.state = append(j.open, '}'), jsonNameOrEnd
	case c == '[':
		j.open, j.state = append(j.open, ']'), jsonValueOrEnd
	case c == '"':
		j.state, j.isName = jsonString, false
	case c == '-':
		j.state = jsonMinus
	case c == '0':
		j.state = jsonZero
	case isDigit(c):
		j.state = jsonInteger
	default:
		for _, word := range []string{"true", "false", "null"} {
			if c == word[0] {
				j.word, j.state = word[1:], jsonWord
				return true
			}
		}
		return false
	}
	return true
}

// afterValue adds the byte after a value.
func (j *jsonPrefix) afterValue(c byte) bool {
	switch {
	case c != ',':
		return j.closeBracket(c)
	case j.open[len(j.open)-1] == '}':
		j.state = jsonName
	default:
		j.state = jsonValue
	}
	return true
}

// closeBracket adds a closing bracket.
func (j *jsonPrefix) closeBracket(c byte) bool {
	last := len(j.open) - 1
	if c != j.open[last] {
		return false
	}
	j.open, j.state = j.open[:last], jsonAfterValue
	if last == 0 {
		j.state = jsonEnd
	}
	return true
}

func (j *jsonPrefix) inString(c byte) bool {
	switch {
	case j.state == jsonHex:
		if j.hex--; j.hex == 0 {
			j.state = jsonString
		}
		return isHex(c)
	case j.state == jsonEscape && c == 'u':
		j.state, j.hex = jsonHex, 4
	case j.state == jsonEscape:
		j.state = jsonString
		return strings.IndexByte(`"\/bfnrt`, c) >= 0
	case c == '\\':
		j.state = jsonEscape
	case c == '"' && j.isName:
		j.state = jsonColon
	case c == '"':
		j.state = jsonAfterValue
	default:
		return c >= ' '
	}
	return true
}

func (j *jsonPrefix) inWord(c byte) bool {
	if c != j.word[0] {
		return false
	}
	if j.word = j.word[1:]; j.word == "" {
		j.state = jsonAfterValue
	}
	return true
}

// digitsAfter maps the state before a digit of a number to the state after it.
var digitsAfter = map[jsonState]jsonState{
	jsonMinus: jsonInteger, jsonInteger: jsonInteger, jsonPoint: jsonFraction, jsonFraction: jsonFraction,
	jsonExponent: jsonExponentDigits, jsonExponentSign: jsonExponentDigits, jsonExponentDigits: jsonExponentDigits,
}

// inNumber adds the next byte of a number, or the first byte after it.
func (j *jsonPrefix) inNumber(c byte) bool {
	state := j.state
	whole := state == jsonZero || state == jsonInteger
	switch {
	case state == jsonMinus && c == '0':
		j.state = jsonZero
	case isDigit(c) && state != jsonZero:
		j.state = digitsAfter[state]
	case c == '.' && whole:
		j.state = jsonPoint
	case (c == 'e' || c == 'E') && (whole || state == jsonFraction):
		j.state = jsonExponent
	case (c == '+' || c == '-') && state == jsonExponent:
		j.state = jsonExponentSign
	case whole || state == jsonFraction || state == jsonExponentDigits:
		j.state = jsonAfterValue
		return isSpace(c) || j.afterValue(c)
	default:
		return false
	}
	return true
}
