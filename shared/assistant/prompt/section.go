package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
)

// What is not ours to say stands in sections, between two lines with a mark that occurs in none of them: nothing that a file, a name
// or an earlier turn holds can end its section or begin one. The mark is made of the sections themselves, so that the same input gives
// the same prompt; whoever wants it in their file has to write a file that holds its own hash, and if they did, the mark would be
// another one.

// section is a part of a message.
type section struct {
	// title says what it is, on one line.
	title string
	text  string
}

// frame is more than what a section takes beside its title and its text, in bytes, with a mark of usual length.
const frame = 64

// markPrefix and markStep make marks: the prefix, and as many hexadecimal digits as it takes, this many at a time.
const (
	markPrefix = "data-"
	markStep   = 8
)

// mark is a word that occurs neither in the sections nor in what stands beside them.
func mark(sections []section, beside []string) string {
	hash := sha256.New()
	var all []string
	for _, s := range sections {
		all = append(all, s.title, s.text)
	}
	all = append(all, beside...)
	for _, text := range all {
		_, _ = fmt.Fprintf(hash, "%d:%s", len(text), text) // a hash takes everything
	}
	return absentMark(hex.EncodeToString(hash.Sum(nil)), all)
}

// absentMark is the shortest mark of some digits that occurs in none of the texts. There is one: it may become longer than all of them.
func absentMark(digits string, texts []string) string {
	for n := markStep; ; n += markStep {
		for len(digits) < n {
			next := sha256.Sum256([]byte(digits))
			digits += hex.EncodeToString(next[:])
		}
		word := markPrefix + digits[:n]
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, word) }) {
			return word
		}
	}
}

// together is a message of sections. The mark does not occur beside them either: in the messages before.
func together(sections []section, beside []string) string {
	word := mark(sections, beside)
	var out strings.Builder
	out.WriteString("The sections of this message are marked by " + word + ".\n")
	for _, s := range sections {
		out.WriteString("\n<" + word + " " + s.title + ">\n" + s.text)
		if !strings.HasSuffix(s.text, "\n") {
			out.WriteString("\n")
		}
		out.WriteString("</" + word + ">\n")
	}
	return out.String()
}

// quote is a name or a path on one line: as JSON.
func quote(text string) string {
	var out strings.Builder
	data, err := json.Marshal(text)
	if err != nil {
		return `""` // no UTF-8; what comes here is clean
	}
	for _, r := range string(data) {
		if unicode.IsPrint(r) {
			out.WriteRune(r)
		} else if r > 0xFFFF {
			out.WriteRune(unicode.ReplacementChar)
		} else {
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// oneLine is a text as it is, unless it holds something that might look like the end of a line.
func oneLine(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return quote(text)
	}
	return text
}

// maxName is how much of a name is told, in characters.
const maxName = 512

// name is a name that somebody chose, quoted and not too long.
func name(text string) string {
	text = clean(text)
	if runes := []rune(text); len(runes) > maxName {
		text = string(runes[:maxName]) + "…"
	}
	return quote(text)
}

// clean is text that every provider takes: UTF-8 without NUL.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
