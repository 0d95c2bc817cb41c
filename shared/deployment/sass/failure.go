package sass

import (
	"errors"
	"strings"

	"devplatform/shared/deployment/engine"
	"devplatform/shared/deployment/failure"
)

// problem is an error of the compiler. Line is 0 if it has no place.
type problem struct {
	Message, File string
	Line, Column  int
}

// at returns an error in the style sheet.
func (s Sheet) at(line, column int, message string) *failure.Error {
	return &failure.Error{Code: failure.BuildFailed, Message: message, Path: s.File, Line: line, Column: column}
}

// failure returns the error for the owners of the project. linesBefore is the number of lines before the text.
func (c *Compiler) failure(p problem, linesBefore int) error {
	message := failure.Sentence(p.Message)
	message = strings.ToUpper(message[:1]) + message[1:]
	f := c.sheet.at(max(p.Line, 1), max(p.Column, 1), message)
	switch {
	case p.File != "" && p.File != c.sheet.File:
		f.Path = p.File
	case p.Line > linesBefore:
		f.Line -= linesBefore
	case linesBefore > 0:
		f.Line, f.Column = 1, 1
		f.Message = "The code that the settings of the project add before the style sheet has an error. " + f.Message
	}
	refusal, _ := errors.AsType[*failure.Error](c.hostErr)
	switch {
	case c.hostErr == nil:
		return f
	case refusal == nil:
		return c.hostErr
	case refusal.Path != "":
		return refusal
	}
	f.Code, f.Message = refusal.Code, refusal.Message
	return f
}

// limitError returns the error of a style sheet that reaches a limit.
func (s Sheet) limitError(err error) error {
	message := ""
	thrown, isThrown := errors.AsType[*engine.Error](err)
	switch {
	case errors.Is(err, engine.ErrTime):
		message = "takes too long to compile. Look for loops that do not end. Instead of a large package in Sass, import the " +
			"CSS that it also has, such as bootstrap/dist/css/bootstrap.css."
	case errors.Is(err, engine.ErrMemory):
		message = "needs too much memory to compile. Look for loops that make too many rules."
	case errors.Is(err, engine.ErrNesting):
		message = "is nested too deeply, or has a function or a mixin that calls itself without an end. Make it simpler."
	case isThrown:
		message = "cannot be compiled: " + thrown.Message
	default:
		return err
	}
	return s.at(s.Line, 1, "The style sheet "+message)
}
