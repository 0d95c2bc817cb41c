package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

const (
	pageWidth = 80 // if the output is not a terminal
	indent    = "    "
	bar       = indent + "│ " // before the words of the assistant
	right     = 16            // characters of the status and the time of a request
)

// style is the number of an ANSI escape code.
type style string

const (
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
	head   style = "1;36"
)

// screen writes complete lines.
type screen struct {
	out      io.Writer
	width    int
	hasColor bool
	chapters int
}

// newScreen returns a screen with the width and the colors of a terminal. If out is not a terminal, the screen has
// pageWidth and no colors.
func newScreen(out io.Writer) *screen {
	s := &screen{out: out, width: pageWidth}
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			s.width = max(min(width, 100), 50)
		}
		s.hasColor = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return s
}

// paint returns a text with a color.
func (s *screen) paint(style style, text string) string {
	if !s.hasColor || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// line writes lines.
func (s *screen) line(lines ...string) {
	for _, line := range lines {
		_, _ = fmt.Fprintln(s.out, line)
	}
}

// chapter writes the heading of the next chapter.
func (s *screen) chapter(title string) {
	s.chapters++
	s.line("", s.paint(head, fmt.Sprintf("%d  %s", s.chapters, title)))
}

// say writes a text of the story.
func (s *screen) say(format string, args ...any) { s.wrap("  ", fmt.Sprintf(format, args...)) }

// remark writes a text about the request above.
func (s *screen) remark(format string, args ...any) { s.wrap(indent, fmt.Sprintf(format, args...)) }

// wrap writes a text in lines that begin with a prefix.
func (s *screen) wrap(prefix, text string) {
	line := ""
	for _, word := range strings.Fields(clean(short(text))) {
		word = elide(word, s.width-length(prefix))
		if line != "" && length(prefix+line)+1+length(word) > s.width {
			s.line(prefix + line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	s.line(prefix + line)
}

// columns writes a request: its text and a note on the left, the status of the response and a time on the right.
func (s *screen) columns(mark string, color style, text, note string, status int, took time.Duration) {
	if note != "" {
		note = "  " + note
	}
	text = elide(clean(short(text)), s.width-length(mark+note)-right-1)
	pad := strings.Repeat(" ", max(s.width-length(mark+text+note)-right, 1))
	s.line(mark + s.paint(color, text) + note + pad + s.paint(colorOf(status), fmt.Sprint(status)) +
		fmt.Sprintf("%13s", milliseconds(took)))
}

// colorOf returns the color of a status.
func colorOf(status int) style {
	switch status / 100 {
	case 2:
		return green
	case 4:
		return yellow
	}
	return red
}

// fields writes names and values of a response.
func (s *screen) fields(pairs ...string) {
	text := ""
	for i, part := range pairs {
		text += part + []string{": ", " · "}[i%2]
	}
	s.remark("%s", strings.TrimSuffix(text, " · "))
}

// mark writes a change of a file: added (+), changed (~) or deleted (-).
func (s *screen) mark(mark, path, detail string) {
	color := map[string]style{"+": green, "~": yellow, "-": red}[mark]
	path = elide(clean(path), s.width-length(indent+detail)-4)
	pad := strings.Repeat(" ", max(s.width-length(indent+path+detail)-2, 2))
	s.line(indent + s.paint(color, mark+" "+path) + pad + s.paint(dim, detail))
}

var identifier = regexp.MustCompile(`\b([a-z]+_)?[0-9A-HJKMNP-TV-Z]{20}([0-9A-HJKMNP-TV-Z]{6})\b`)

// short abbreviates IDs to their last characters, because the first ones are the time.
func short(text string) string { return identifier.ReplaceAllString(text, "$1…$2") }

// clean removes control characters: a response must not move the cursor.
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

// elide shortens a text to a number of characters by replacing its middle.
func elide(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	first := max(width-1, 0) / 3
	return string(runes[:first]) + "…" + string(runes[len(runes)-max(width-1, 0)+first:])
}

func length(text string) int { return utf8.RuneCountInString(text) }

// milliseconds formats a measured time.
func milliseconds(d time.Duration) string {
	if d < time.Millisecond {
		return "<1 ms"
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
