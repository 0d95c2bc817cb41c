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

// Errors that clients receive if the model does not return a complete answer.
var (
	errUnavailable = fault.New(fault.CodeAIUnavailable,
		"The assistant's model is not available at the moment. Please try again later.")
	errOverdue = fault.New(fault.CodeAIUnavailable,
		"The assistant's model took too long to answer. Please try again.")
	errRefused = fault.New(fault.CodeAIRefused,
		"The model's provider stopped the answer because the question or the answer violates its usage policy. "+
			"Rephrase the question.")
	errMessageTooLong = fault.New(fault.CodeValidationFailed,
		"message: exceeds the model's context window, together with the files that it is about. "+
			"Shorten the message or name fewer files")
	errPromptTooLong = fault.New(fault.CodeValidationFailed,
		"prompt: exceeds the model's context window. Shorten the prompt")
)

// errEmptyAnswer reports that the model sent no text and no actions.
var errEmptyAnswer = &model.Error{Fault: model.Unavailable, Cause: errors.New("an empty answer")}

// defaultRetryAfter is the Retry-After header of an error for which the provider did not ask for a wait.
const defaultRetryAfter = 5 * time.Second

// clientError converts the cause of an incomplete answer to the error that the client receives. tooLong is the error
// for a request that exceeds the model's context window. Errors that do not come from a model are returned unchanged.
func clientError(err error, tooLong *fault.Error) error {
	var failure *model.Error
	switch {
	case isInterruption(err):
		return withRetryAfter(errOverdue, defaultRetryAfter).WithCause(err)
	case !errors.As(err, &failure):
		return err
	}
	switch failure.Fault {
	case model.Refused:
		return errRefused.WithCause(err)
	case model.TooLong:
		return tooLong.WithCause(err)
	case model.Misconfigured:
		return err // an internal error
	default:
		return withRetryAfter(errUnavailable, cmp.Or(failure.RetryAfter, defaultRetryAfter)).WithCause(err)
	}
}

func withRetryAfter(e *fault.Error, wait time.Duration) *fault.Error {
	return e.WithHeader("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
}
