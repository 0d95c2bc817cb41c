package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// identifier is an id or a version of the API: a ULID, with a prefix or without.
var identifier = regexp.MustCompile(`\b([a-z]+_)?[0-9A-HJKMNP-TV-Z]{20}([0-9A-HJKMNP-TV-Z]{6})\b`)

// short shows ids by their last characters: those of one run all begin with the same time.
func short(text string) string { return identifier.ReplaceAllString(text, "$1…$2") }

// clean takes out what a terminal would obey: an answer must not move the cursor.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, text)
}

// elide shortens a text to a number of characters; its end says more than its middle.
func elide(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	if width < 1 {
		return ""
	}
	head := (width - 1) / 3
	return string(runes[:head]) + "…" + string(runes[len(runes)-(width-1-head):])
}

// cut shortens a text at its end.
func cut(text string, width int) string {
	if runes := []rune(text); len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return text
}

// wrap breaks a text into lines of at most width characters, where it can between words.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch room := width - length(line) - 1; {
		case line == "":
			line = word
		case length(word) <= room:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
		for length(line) > width {
			runes := []rune(line)
			lines, line = append(lines, string(runes[:width])), string(runes[width:])
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// length counts characters, which is columns for all that the demo prints.
func length(text string) int { return utf8.RuneCountInString(text) }

// number writes 1234567 as 1,234,567.
func number[T int | int64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// milliseconds shows a measured time.
func milliseconds(d time.Duration) string {
	if d < time.Millisecond {
		return "<1 ms"
	}
	return number(d.Milliseconds()) + " ms"
}

// seconds shows a longer one.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
