package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"

	"devplatform/shared/assistant/model"
)

// Text that comes from a project or its users is put into sections. A section lies between two lines with a mark that
// occurs in no section, so that no file, name or earlier turn can end its section or begin another. The mark is
// derived from a hash of the sections, so that the same input results in the same prompt.

// section is a part of a message.
type section struct {
	title string // one line
	text  string
}

// sectionOverhead is an upper bound for the bytes of a section in addition to its title and its text.
const sectionOverhead = 64

// join returns the sections as the text of a message. Their mark does not occur in the earlier messages either.
func join(sections []section, earlier []model.Message) string {
	var texts []string
	for _, s := range sections {
		texts = append(texts, s.title, s.text)
	}
	for _, m := range earlier {
		texts = append(texts, m.Text)
	}
	mark := markFor(texts)
	var out strings.Builder
	out.WriteString("The sections of this message are marked by " + mark + ".\n")
	for _, s := range sections {
		out.WriteString("\n<" + mark + " " + s.title + ">\n" + s.text)
		if !strings.HasSuffix(s.text, "\n") {
			out.WriteString("\n")
		}
		out.WriteString("</" + mark + ">\n")
	}
	return out.String()
}

// markFor returns a mark that is derived from the texts and occurs in none of them.
func markFor(texts []string) string {
	hash := sha256.New()
	for _, text := range texts {
		_, _ = fmt.Fprintf(hash, "%d:%s", len(text), text) // a hash never returns an error
	}
	return absentMark([sha256.Size]byte(hash.Sum(nil)), texts)
}

// absentMark returns the first mark, in a sequence that begins with sum, that occurs in none of the texts.
func absentMark(sum [sha256.Size]byte, texts []string) string {
	for {
		mark := "data-" + hex.EncodeToString(sum[:4])
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, mark) }) {
			return mark
		}
		sum = sha256.Sum256(sum[:])
	}
}

// quote returns a text on one line, as a JSON string with only printable characters.
func quote(text string) string {
	var out strings.Builder
	data, err := json.Marshal(text)
	if err != nil {
		return `""` // not reached: callers pass clean text, which is valid UTF-8
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

// oneLine returns a text unchanged if all its characters are printable. Otherwise, it quotes the text.
func oneLine(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return quote(text)
	}
	return text
}

// quoteName quotes a name that a user chose, and cuts it if it is too long.
func quoteName(text string) string {
	const limit = 512 // characters
	text = clean(text)
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit]) + "…"
	}
	return quote(text)
}

// clean returns text that every provider accepts: UTF-8 without NUL.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
