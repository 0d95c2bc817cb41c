package main

import (
	"fmt"
	"strings"
	"time"
)

// What a page of the story is made of: headings, requests, fields, marks, tables.

const (
	indent = "    "
	// right is the width of what stands at the right edge of a request: a status and a time.
	right = 16
)

// title is the first line.
func (s *screen) title(text string) { s.line(s.paint(bold, text)) }

// chapter begins the next one.
func (s *screen) chapter(text string) {
	s.chapters++
	s.line("")
	s.line(s.paint(head, fmt.Sprintf("%d  %s", s.chapters, text)))
}

// say writes a sentence of the story, broken into lines.
func (s *screen) say(format string, args ...any) {
	for _, line := range wrap(clean(short(fmt.Sprintf(format, args...))), s.width-2) {
		s.line("  " + line)
	}
}

// request begins a request's line.
func (s *screen) request(method, path, note string) {
	shown := method + " " + clean(short(path))
	room := s.width - 2 - right - 1
	if note != "" {
		note = "  " + note
		room -= length(note)
	}
	shown = elide(shown, room)
	s.begin("  "+s.paint(dim, shown)+note, 2+length(shown)+length(note))
}

// answered ends a request's line.
func (s *screen) answered(status int, took time.Duration) {
	s.finish(s.paint(class(status), fmt.Sprint(status))+fmt.Sprintf("%*s", right-3, milliseconds(took)), right)
}

// class is the colour of a status: done, elsewhere, the caller's fault, the service's fault.
func class(status int) style {
	switch status / 100 {
	case 2:
		return green
	case 3:
		return cyan
	case 4:
		return yellow
	}
	return red
}

// field is a name and a value of an answer.
type field struct{ name, value string }

// fields writes the few that matter, as many on a line as it holds.
func (s *screen) fields(all ...field) {
	line, columns := "", 0
	for _, f := range all {
		value := elide(clean(short(f.value)), s.width-len(indent)-length(f.name)-1)
		size := length(f.name) + 1 + length(value)
		if columns > 0 && len(indent)+columns+3+size > s.width {
			s.line(indent + line)
			line, columns = "", 0
		}
		if columns > 0 {
			line, columns = line+"   ", columns+3
		}
		line, columns = line+s.paint(dim, f.name)+" "+value, columns+size
	}
	s.line(indent + line)
}

// refusal writes an error of the API: its code and what it says.
func (s *screen) refusal(said refusal) {
	for i, line := range wrap(clean(short(said.Code+" "+said.Error)), s.width-len(indent)) {
		if code, message, found := strings.Cut(line, " "); found && i == 0 {
			line = s.paint(yellow, code) + " " + message
		}
		s.line(indent + line)
	}
}

// remark writes what is to be said about the request above.
func (s *screen) remark(format string, args ...any) {
	for _, line := range wrap(clean(short(fmt.Sprintf(format, args...))), s.width-len(indent)) {
		s.line(indent + line)
	}
}

// marks are the colours of what happened to a file.
var marks = map[string]style{"+": green, "~": yellow, "-": red}

// mark writes what happened to a file.
func (s *screen) mark(mark, path, detail string) {
	room := s.width - len(indent) - 2
	if detail != "" {
		room -= 2 + length(detail)
	}
	path = elide(clean(path), room)
	pad := strings.Repeat(" ", max(room-length(path), 0))
	if detail != "" {
		detail = pad + "  " + detail
	}
	s.line(indent + s.paint(marks[mark], mark+" "+path) + s.paint(dim, detail))
}

// cell is one of a table.
type cell struct {
	text  string
	style style
}

// table writes rows in columns; the first row is the heading.
func (s *screen) table(rows [][]cell) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], length(c.text))
		}
	}
	for _, row := range rows {
		line := ""
		for i, c := range row {
			line += s.paint(c.style, c.text)
			if i < len(row)-1 {
				line += strings.Repeat(" ", widths[i]-length(c.text)+2)
			}
		}
		s.line(indent + strings.TrimRight(line, " "))
	}
}
