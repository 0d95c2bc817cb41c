package assistant

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/fault"
)

// Errors that clients receive if the model does not answer.
var (
	errUnavailable = fault.New(fault.CodeAIUnavailable,
		"The assistant's model is not available at the moment. Please try again later.")
	errOverdue = fault.New(fault.CodeAIUnavailable,
		"The assistant's model took too long to answer. Please try again.")
	errRefused = fault.New(fault.CodeAIRefused,
		"The model's provider stopped the answer: the answer or the question breaks its rules.")
	errTooLong = fault.New(fault.CodeValidationFailed,
		"message: is, together with the files that it is about, longer than the model can read")
)

// errEmptyAnswer reports that the model sent no text and no actions.
var errEmptyAnswer = &model.Error{Fault: model.Unavailable, Cause: errors.New("an empty answer")}

// defaultRetryAfter is the Retry-After of a model that does not give one.
const defaultRetryAfter = 5 * time.Second

// clientError returns the error that the client receives for the reason why an answer is not complete. Errors that do
// not come from a model are returned as they are.
func clientError(err error) error {
	var failure *model.Error
	switch {
	case endedByUs(err):
		return withRetryAfter(errOverdue, defaultRetryAfter).WithCause(err)
	case !errors.As(err, &failure):
		return err
	}
	switch failure.Fault {
	case model.Refused:
		return errRefused.WithCause(err)
	case model.TooLong:
		return errTooLong.WithCause(err)
	case model.Misconfigured:
		return err // an internal error
	default:
		return withRetryAfter(errUnavailable, cmp.Or(failure.RetryAfter, defaultRetryAfter)).WithCause(err)
	}
}

func withRetryAfter(e *fault.Error, wait time.Duration) *fault.Error {
	return e.WithHeader("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
}
