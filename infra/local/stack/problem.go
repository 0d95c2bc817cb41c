package stack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a template, or that the local platform can't do.
type Problem struct {
	// File is the template's path as it was given, Line counts from 1.
	File string
	Line int
	// Subject is the logical id, or the section where no resource is concerned.
	Subject string
	// Path leads from the subject to the place, such as "Properties.VpcConfig". It may be empty.
	Path string
	// Message says what is wrong.
	Message string
}

// String gives "template.yaml:57: AuthFunction: Properties.VpcConfig: not supported by the local platform".
func (p Problem) String() string {
	parts := []string{fmt.Sprintf("%s:%d", p.File, p.Line)}
	for _, part := range []string{p.Subject, p.Path, p.Message} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// Error holds everything that was found wrong, in the order of the lines.
type Error struct{ Problems []Problem }

// Error gives a line for each problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, problem := range e.Problems {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// place is where in the template something stands, in the template's own words.
type place struct{ subject, path string }

func (p place) field(name string) place {
	if p.path == "" {
		return place{p.subject, name}
	}
	return place{p.subject, p.path + "." + name}
}

func (p place) index(i int) place { return place{p.subject, fmt.Sprintf("%s[%d]", p.path, i)} }

// last is the innermost element of the path.
func (p place) last() string { return p.path[strings.LastIndexByte(p.path, '.')+1:] }

// early tells whether the place is worked out before there are resources.
func (p place) early() bool { return p.subject == "Conditions" || p.subject == "Rules" }

const unsupported = "not supported by the local platform"

// problems collects; what Globals give to several functions is reported once.
type problems struct {
	file string
	seen map[string]bool
	list []Problem
	// found counts what was found wrong, also what list has already.
	found int
	// muted is above 0 while something is tried whose failure is no problem (an output that AWS alone can know).
	muted int
}

func (p *problems) add(at place, line int, format string, args ...any) {
	if p.muted > 0 {
		return
	}
	p.found++
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
