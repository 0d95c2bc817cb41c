package prompt_test

import (
	"regexp"
	"strings"

	"devplatform/shared/assistant/model"
)

// tester is a *testing.T or a *rapid.T.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// parsedSection is a section of a message.
type parsedSection struct{ Title, Text string }

var firstLine = regexp.MustCompile(`^The sections of this message are marked by (data-[0-9a-f]+)\.\n`)

// parseSections parses the sections of a message, using only the mark in its first line. It fails if there is text
// outside of a section.
func parseSections(t tester, text string) []parsedSection {
	t.Helper()
	found := firstLine.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("the first line of %.200q does not contain a mark", text)
	}
	begin, end := "<"+found[1]+" ", "</"+found[1]+">"
	var sections []parsedSection
	open := false
	for line := range strings.SplitAfterSeq(strings.TrimPrefix(text, found[0]), "\n") {
		isBegin, isEnd := strings.HasPrefix(line, begin), strings.TrimSuffix(line, "\n") == end
		switch {
		case !isBegin && !isEnd && strings.Contains(line, found[1]):
			t.Fatalf("the mark occurs inside the line %q", line)
		case isBegin == isEnd && !open && strings.TrimSpace(line) != "", isBegin && open, isEnd && !open:
			t.Fatalf("the line %q is not allowed here", line)
		case isBegin:
			open = true
			sections = append(sections, parsedSection{Title: strings.TrimSuffix(strings.TrimPrefix(line, begin), ">\n")})
		case isEnd:
			open = false
		case open:
			sections[len(sections)-1].Text += line
		}
	}
	if open {
		t.Fatalf("the section %q has no end", sections[len(sections)-1].Title)
	}
	return sections
}

func lastText(r model.Request) string { return r.Messages[len(r.Messages)-1].Text }
