package expr

import "fmt"

// Error is an expression, or a use of one, that DynamoDB refuses with a
// ValidationException.
type Error struct {
	// Message is AWS's full text.
	Message string
}

// Error returns AWS's text.
func (e *Error) Error() string { return e.Message }

func errorf(format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...)}
}

// What evaluating an update can fail with.
var (
	errOperandType = &Error{Message: "An operand in the update expression has an incorrect data type"}
	errMissing     = &Error{Message: "The provided expression refers to an attribute that does not exist in the item"}
	errPath        = &Error{Message: "The document path provided in the update expression is invalid for update"}
)
