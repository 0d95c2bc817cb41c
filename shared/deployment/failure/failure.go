// Package failure defines the errors of a build that the owners of a project see: a code for programs, a message that
// says what to change, and the place in the project's files. It imports no other package of this module.
package failure

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Code is the machine-readable part of an error.
type Code string

// The codes of failed builds.
const (
	BuildFailed          Code = "BUILD_FAILED"
	EntryNotFound        Code = "ENTRY_NOT_FOUND"
	DependencyNotFound   Code = "DEPENDENCY_NOT_FOUND"
	DependencyTooLarge   Code = "DEPENDENCY_TOO_LARGE"
	FrameworkUnsupported Code = "FRAMEWORK_UNSUPPORTED"
	OutputTooLarge       Code = "OUTPUT_TOO_LARGE"
	BuildTimeout         Code = "BUILD_TIMEOUT"
	BuildInterrupted     Code = "BUILD_INTERRUPTED"
)

// Error is the reason why a build failed. A new build of the same files fails in the same way. Any other error of a
// build is transient or a bug.
type Error struct {
	Code    Code   `dynamodbav:"code"`
	Message string `dynamodbav:"message"`
	Path    string `dynamodbav:"path,omitempty"`   // of the file with the error
	Line    int    `dynamodbav:"line,omitempty"`   // counted from 1
	Column  int    `dynamodbav:"column,omitempty"` // in characters, counted from 1
}

// Error implements error.
func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s: %s:%d:%d: %s", e.Code, e.Path, e.Line, e.Column, e.Message)
}

// Sentence returns a message of a compiler on one line, with a period at its end. It omits an announcement of an
// example, which is not a part of the message.
func Sentence(message string) string {
	message = strings.TrimSuffix(strings.Join(strings.Fields(message), " "), ", for example:")
	if !strings.HasSuffix(message, ".") && !strings.HasSuffix(message, "?") {
		message += "."
	}
	return message
}

// At returns the error with its place: an offset in the text of a file.
func (e *Error) At(path string, text []byte, offset int) *Error {
	before := text[:max(0, min(offset, len(text)))]
	return &Error{
		Code: e.Code, Message: e.Message, Path: path, Line: 1 + bytes.Count(before, []byte("\n")),
		Column: 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]),
	}
}

// maxNames is the number of things that an error about a limit names.
const maxNames = 5

// Largest returns the names with the highest values, such as "a (7), b (3)".
func Largest(values map[string]int, text func(int) string) string {
	names := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(cmp.Compare(values[b], values[a]), strings.Compare(a, b))
	})
	var parts []string
	for _, name := range names[:min(len(names), maxNames)] {
		parts = append(parts, name+" ("+text(values[name])+")")
	}
	return strings.Join(parts, ", ")
}

// LargestSizes is Largest for sizes in bytes.
func LargestSizes(sizes map[string]int) string {
	return Largest(sizes, func(n int) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) })
}
