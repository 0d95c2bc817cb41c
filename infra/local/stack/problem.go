package stack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is an error in a template, or something that the local platform does not support.
type Problem struct {
	// File is the template's path as the caller passed it.
	File string
	// Line counts from 1.
	Line int
	// Subject is the logical id of a resource, or the name of a section.
	Subject string
	// Path is the path below the subject, such as "Properties.Layers". It may be empty.
	Path    string
	Message string
}

// String returns a line such as "template.yaml:57: AuthFunction: Properties.Layers: not supported by the local
// platform".
func (p Problem) String() string {
	parts := []string{fmt.Sprintf("%s:%d", p.File, p.Line)}
	for _, part := range []string{p.Subject, p.Path, p.Message} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// Error has all problems of a template, in the order of the lines.
type Error struct {
	Problems []Problem
}

// Error returns a line for each problem.
func (e *Error) Error() string {
	var lines []string
	for _, problem := range e.Problems {
		lines = append(lines, problem.String())
	}
	return strings.Join(lines, "\n")
}

// place is the position of a value in the template.
type place struct{ subject, path string }

func (p place) field(name string) place {
	if p.path == "" {
		return place{p.subject, name}
	}
	return place{p.subject, p.path + "." + name}
}

func (p place) index(i int) place { return place{p.subject, fmt.Sprintf("%s[%d]", p.path, i)} }

// last returns the last element of the path.
func (p place) last() string { return p.path[strings.LastIndexByte(p.path, '.')+1:] }

const unsupported = "not supported by the local platform"

// problems collects the problems of a template. A problem that Globals cause in several functions is reported once.
type problems struct {
	file  string
	seen  map[string]bool
	list  []Problem
	muted bool // problems are ignored
}

func (p *problems) add(at place, line int, format string, args ...any) {
	if p.muted {
		return
	}
	message := fmt.Sprintf(format, args...)
	key := fmt.Sprintf("%d\x00%s\x00%s", line, at.last(), message)
	if p.seen[key] {
		return
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[key] = true
	p.list = append(p.list, Problem{File: p.file, Line: line, Subject: at.subject, Path: at.path, Message: message})
}

func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortStableFunc(p.list, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return &Error{Problems: p.list}
}
