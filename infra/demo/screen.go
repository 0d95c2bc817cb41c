package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// Widths: of a page that is no terminal, and the most and the least that is made use of.
const (
	pageWidth  = 80
	mostWidth  = 100
	leastWidth = 50
)

// style is an ANSI escape code's number.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
	head   style = "1;36"
)

// screen writes the story in whole lines, from the one that tells it and from the receiver, to which deliveries come when they come.
type screen struct {
	mu       sync.Mutex
	out      io.Writer
	width    int
	coloured bool
	moves    bool     // a line may be rewritten
	open     int      // columns of the line that has been begun and not ended; others wait for its end
	held     []string // the lines that wait
	waiting  string   // the line that is rewritten, if there is one
	chapters int
}

// newScreen finds out what the output can show.
func newScreen(out io.Writer, plain bool) *screen {
	s := &screen{out: out, width: pageWidth}
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return s
	}
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		s.width = max(min(width, mostWidth), leastWidth)
	}
	s.moves = !plain && os.Getenv("TERM") != "dumb"
	s.coloured = s.moves && os.Getenv("NO_COLOR") == ""
	return s
}

// paint colours a text, where there are colours.
func (s *screen) paint(style style, text string) string {
	if !s.coloured || style == plain || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// line writes a whole line, or several with none of others between them; while one is open, they wait for its end.
func (s *screen) line(texts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open > 0 {
		s.held = append(s.held, texts...)
		return
	}
	for _, text := range texts {
		s.writeLine(text)
	}
}

// writeLine puts a line above the one that is rewritten.
func (s *screen) writeLine(text string) {
	waiting := s.waiting
	s.rewrite("")
	_, _ = fmt.Fprintln(s.out, text)
	s.rewrite(waiting)
}

// rewrite replaces the line that is rewritten; "" takes it away.
func (s *screen) rewrite(text string) {
	switch {
	case !s.moves:
		return
	case text != "":
		_, _ = fmt.Fprint(s.out, "\r\x1b[K"+s.paint(dim, elide(text, s.width-1)))
	case s.waiting != "":
		_, _ = fmt.Fprint(s.out, "\r\x1b[K")
	}
	s.waiting = text
}

// status shows what is being waited for, where a line can be rewritten; "" takes it away.
func (s *screen) status(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == 0 {
		s.rewrite(text)
	}
}

// begin writes the beginning of a line, which has columns characters. Until finish all others wait.
func (s *screen) begin(text string, columns int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rewrite("")
	_, _ = fmt.Fprint(s.out, text)
	s.open += columns
}

// finish writes the end of the line, at the right edge if it has columns, and then those that waited.
func (s *screen) finish(text string, columns int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pad := ""
	if columns > 0 {
		pad = strings.Repeat(" ", max(s.width-s.open-columns, 1))
	}
	_, _ = fmt.Fprintln(s.out, pad+text)
	s.open = 0
	for _, line := range s.held {
		s.writeLine(line)
	}
	s.held = nil
}

// end leaves the screen at the beginning of a line.
func (s *screen) end() {
	s.mu.Lock()
	open := s.open
	s.rewrite("")
	s.mu.Unlock()
	if open > 0 {
		s.finish("", 0)
	}
}
