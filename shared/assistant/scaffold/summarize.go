package scaffold

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"devplatform/shared/assistant/model"
)

// How much of a message and of an answer a note keeps.
const (
	noteOfQuestion = 160
	noteOfAnswer   = 120
)

// summarize is a note about old turns made of their own words: what was asked, and what was done or the first sentence that was
// answered. It is at most so many tokens long (0: as long as it gets); the oldest lines go first.
func summarize(f facts, most int) string {
	var lines []string
	for line := range strings.Lines(f.Summary) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	for _, t := range f.Turns {
		lines = append(lines, noteOf(t))
	}
	if most <= 0 {
		return strings.Join(lines, "\n")
	}
	room := most * 4
	first := len(lines)
	for first > 0 {
		need := utf8.RuneCountInString(lines[first-1])
		if first < len(lines) {
			need++ // the end of the line before
		}
		if need > room {
			break
		}
		room -= need
		first--
	}
	if first == len(lines) && first > 0 {
		return clip(lines[first-1], most*4)
	}
	return strings.Join(lines[first:], "\n")
}

// noteOf is one turn in a line.
func noteOf(t model.Turn) string {
	asked := clip(oneLine(t.User), noteOfQuestion)
	switch {
	case len(t.Actions) > 0:
		return fmt.Sprintf("- Asked: %s — Done: %s.", asked, clip(strings.Join(t.Actions, ", "), noteOfQuestion))
	case t.Assistant != "":
		return fmt.Sprintf("- Asked: %s — Answered: %s", asked, clip(firstSentence(oneLine(t.Assistant)), noteOfAnswer))
	}
	return "- Asked: " + asked
}

// oneLine puts a text into one line.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "�")), " ")
}

func firstSentence(s string) string {
	for _, end := range []string{". ", "! ", "? "} {
		if i := strings.Index(s, end); i > 0 {
			s = s[:i+1]
		}
	}
	return s
}

// turnsText is what a note was made of.
func turnsText(turns []model.Turn) string {
	var b strings.Builder
	for _, t := range turns {
		b.WriteString(t.User)
		b.WriteString(t.Assistant)
		b.WriteString(strings.Join(t.Actions, " "))
	}
	return b.String()
}
