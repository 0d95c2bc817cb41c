package db

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"devplatform/shared/awsclient"
	"devplatform/shared/fault"
)

// The classes of storage errors, for errors.Is. Any other error is a bug or a mistake in the deployment, such as a
// missing table or a malformed expression. Clients see it as INTERNAL_ERROR.
var (
	// ErrNotFound reports that the item does not exist or has expired.
	ErrNotFound = errors.New("db: not found")
	// ErrConditionFailed reports that the condition of a write was not satisfied. Write.Else replaces it with an error
	// that has a meaning for the caller.
	ErrConditionFailed = errors.New("db: condition failed")
	// ErrConflict reports that other writers were changing the same item. Nothing was written. Retrying is safe.
	ErrConflict = errors.New("db: conflict")
	// ErrUnavailable reports that DynamoDB throttled the call, failed, or did not respond in time. A write may have
	// happened.
	ErrUnavailable = errors.New("db: unavailable")
	// ErrInvalidKey reports a write with a key that was built from an invalid part.
	ErrInvalidKey = fmt.Errorf("db: invalid key: %w", ErrRejected)
	// ErrRejected reports that DynamoDB rejected the call because of its arguments, for example an item that is too large.
	// A retry fails too.
	ErrRejected = awsclient.ErrRejected
)

// conditionError is an ErrConditionFailed.
type conditionError struct {
	// items maps the index of each write whose condition failed (0 for a single write) to the stored item. The item is
	// nil if there is none or the write does not need it.
	items map[int]Item
	cause error
}

func (e *conditionError) Error() string {
	return fmt.Sprintf("%v: %v", ErrConditionFailed, e.cause)
}

// Is makes the error an ErrConditionFailed.
func (e *conditionError) Is(target error) bool { return target == ErrConditionFailed }

// Unwrap returns the SDK's error.
func (e *conditionError) Unwrap() error { return e.cause }

// meaning returns the error that the first failed condition of writes means (see Write.Else). It returns err if no
// condition failed, or if the condition has no meaning.
func meaning(err error, writes ...Write) error {
	failed, ok := errors.AsType[*conditionError](err)
	if !ok {
		return err
	}
	for i, w := range writes {
		item, hasFailed := failed.items[i]
		if !hasFailed {
			continue
		}
		if w.failure == nil {
			return err
		}
		switch failure := w.failure(item).(type) { //nolint:errorlint // a wrapped fault keeps its text
		case nil:
		case *fault.Error:
			return failure.WithCause(err)
		default:
			return fmt.Errorf("%w: %w", failure, err)
		}
	}
	return err
}

// asStale returns ErrStale for a failed condition without a meaning. It is for calls within Retry.
func asStale(err error) error {
	if _, hasNoMeaning := err.(*conditionError); hasNoMeaning { //nolint:errorlint // meaning wraps it
		return fmt.Errorf("%w: %w", ErrStale, err)
	}
	return err
}

// classOfCode maps DynamoDB's error codes and cancellation reasons to classes. classify also classifies other errors.
var classOfCode = map[string]error{
	"ConditionalCheckFailed":                 ErrConditionFailed,
	"ConditionalCheckFailedException":        ErrConditionFailed,
	"TransactionConflict":                    ErrConflict,
	"TransactionConflictException":           ErrConflict,
	"TransactionInProgressException":         ErrConflict,
	"ReplicatedWriteConflictException":       ErrConflict,
	"ThrottlingError":                        ErrUnavailable,
	"ThrottlingException":                    ErrUnavailable,
	"Throttling":                             ErrUnavailable,
	"ProvisionedThroughputExceeded":          ErrUnavailable,
	"ProvisionedThroughputExceededException": ErrUnavailable,
	"RequestLimitExceeded":                   ErrUnavailable,
	"InternalServerError":                    ErrUnavailable,
	"ServiceUnavailable":                     ErrUnavailable,
	"ValidationError":                        ErrRejected,
	"ValidationException":                    ErrRejected,
}

// classify wraps an error of the SDK in its class.
func classify(op string, err error) error {
	if err == nil {
		return nil
	}
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return classifyReasons(op, canceled)
	}
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return &conditionError{items: map[int]Item{0: failed.Item}, cause: err}
	}
	var class error
	if apiError, ok := errors.AsType[smithy.APIError](err); ok {
		class = classOfCode[apiError.ErrorCode()]
	}
	if class == nil && awsclient.IsUnavailable(err) {
		class = ErrUnavailable
	}
	if class == nil {
		return fmt.Errorf("db: %s: %w", op, err)
	}
	return fmt.Errorf("%w: %s: %w", class, op, err)
}

// classifyReasons classifies a canceled transaction. Its reasons are in the order of its writes. A failed condition
// takes precedence, because it would also make a retry fail.
func classifyReasons(op string, canceled *types.TransactionCanceledException) error {
	failed := map[int]Item{}
	var class error
	for i, reason := range canceled.CancellationReasons {
		switch c := classOfCode[aws.ToString(reason.Code)]; {
		case errors.Is(c, ErrConditionFailed):
			failed[i] = reason.Item
		case c != nil && !errors.Is(class, ErrUnavailable):
			class = c
		}
	}
	if len(failed) > 0 {
		return &conditionError{items: failed, cause: canceled}
	}
	if class != nil {
		return fmt.Errorf("%w: %s: %w", class, op, canceled)
	}
	return fmt.Errorf("db: %s: %w", op, canceled)
}
