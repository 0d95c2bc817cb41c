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

// What clients hear of a model that did not answer.
var (
	errUnavailable = fault.New(fault.CodeAIUnavailable, "The assistant's model can't answer at the moment. Please try again in a while.")
	errOverdue     = fault.New(fault.CodeAIUnavailable, "The assistant's model took too long to answer. Please try again.")
	errRefused     = fault.New(fault.CodeAIRefused, "The model's provider stopped the answer: something in it, or in the question, is against its rules.")
	errTooLong     = fault.New(fault.CodeValidationFailed, "message: is, together with the files that it is about, longer than the model can read")
)

// defaultRetryAfter is how long clients should leave a model alone that did not say so itself.
const defaultRetryAfter = 5 * time.Second

// answerTo is what a client is told about why there is no complete answer. What is no fault of a model stays as it is.
func answerTo(err error) error {
	var fault *model.Error
	switch {
	case wasEnded(err):
		return later(errOverdue, defaultRetryAfter).WithCause(err)
	case !errors.As(err, &fault):
		return err
	}
	switch fault.Fault {
	case model.Refused:
		return errRefused.WithCause(err)
	case model.TooLong:
		return errTooLong.WithCause(err)
	case model.Misconfigured:
		return err // a fault of ours
	default:
		return later(errUnavailable, cmp.Or(fault.RetryAfter, defaultRetryAfter)).WithCause(err)
	}
}

func later(e *fault.Error, wait time.Duration) *fault.Error {
	return e.WithHeader("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
}
