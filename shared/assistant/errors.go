package assistant

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/quota"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// Errors that clients receive if the model does not generate a complete answer.
var (
	errUnavailable = fault.New(fault.CodeAIUnavailable,
		"The assistant's model is currently not available. Please try again later.")
	errOverdue = fault.New(fault.CodeAIUnavailable,
		"The assistant's model took too long to answer. Please try again.")
	errRefused = fault.New(fault.CodeAIRefused,
		"The model's provider stopped the answer because the question or the answer violates its usage policy. "+
			"Rephrase the question.")
	errMessageTooLong = fault.New(fault.CodeValidationFailed,
		"message: must fit into the model's context window, together with the files that it names. "+
			"Shorten the message or name fewer files")
	errPromptTooLong = fault.New(fault.CodeValidationFailed,
		"prompt: must fit into the model's context window. Shorten the prompt")
)

// errMessageNotFound is the error for an ID that does not belong to a recent answer to a question of the caller.
var errMessageNotFound = fault.New(fault.CodeMessageNotFound,
	"The answer does not exist, is for another user's question, or ended more than 24 hours ago. "+
		"Use the messageId of the stream's start event.")

// Reasons why an answer is not complete. Other reasons are quota.ErrCancelled and the errors of the provider.
var (
	errSilent = errors.New("assistant: the model sent nothing for too long")
	// errTooLate reports that the answer took too long, or that the function is about to time out.
	errTooLate = errors.New("assistant: the answer took too long")
	// errTooLarge ends an answer that exceeds maxAnswer or maxCalls.
	errTooLarge = errors.New("assistant: the answer is too large")
	// errEmptyAnswer reports that the model sent no text and no actions.
	errEmptyAnswer = &model.Error{Fault: model.Unavailable, Cause: errors.New("the answer is empty")}
)

// isInterruption reports whether a generation was ended by the user or by a time limit.
func isInterruption(err error) bool {
	return errors.Is(err, quota.ErrCancelled) || errors.Is(err, errSilent) || errors.Is(err, errTooLate)
}

// defaultRetryAfter is sent in the Retry-After header if the provider did not specify a time.
const defaultRetryAfter = 5 * time.Second

// clientError converts the cause of an incomplete answer to the error that the client receives. tooLong is returned if
// the request exceeded the model's context window. An error that was not caused by the model is returned unchanged.
func clientError(err error, tooLong *fault.Error) error {
	if isInterruption(err) {
		return withRetryAfter(errOverdue, defaultRetryAfter).WithCause(err)
	}
	failure, ok := errors.AsType[*model.Error](err)
	if !ok {
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

// isTooLong reports whether the model rejected the request for an answer as too long, before it sent anything.
func isTooLong(cause error, a *answer) bool {
	failure, ok := errors.AsType[*model.Error](cause)
	return ok && failure.Fault == model.TooLong && a.size == 0
}

func withRetryAfter(e *fault.Error, wait time.Duration) *fault.Error {
	return e.WithHeader("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
}

// notAppliedNote returns the note that explains why the actions were not applied.
func notAppliedNote(err error) string {
	reason := httpapi.AsError(err)
	switch reason.Code {
	case fault.CodeServiceUnavailable: // the changes may have been applied, and only the response was lost
		return "It is not known whether the changes were applied: storage did not respond. " +
			"Check the files before you try again."
	case fault.CodePreconditionFailed, fault.CodeConflict, fault.CodeFileNotFound:
		return "The changes were not applied: some of these files were changed while the answer was generated. " +
			"Please ask again."
	default:
		return "The changes were not applied: " + reason.Message
	}
}
