package db

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"devplatform/shared/awsclient"
)

// The classes of storage errors, for errors.Is. Whatever is in none of them is a fault of this program
// (a missing table, a malformed expression) and renders as INTERNAL_ERROR.
var (
	// ErrNotFound says: there is no such item, or it has expired.
	ErrNotFound = errors.New("db: not found")
	// ErrConditionFailed says: a write's condition did not hold. *ConditionError says which, and what is there instead.
	ErrConditionFailed = errors.New("db: condition failed")
	// ErrConflict says: other writers kept meeting this one on the same item. Nothing was written; trying again is safe.
	ErrConflict = errors.New("db: conflict")
	// ErrUnavailable says: DynamoDB throttles, is down or did not answer in time. A write may have happened.
	ErrUnavailable = errors.New("db: unavailable")
	// ErrInvalidKey says: a write with a key made from a part that can't be right.
	ErrInvalidKey = errors.New("db: invalid key")
)

// ConditionError says which writes' conditions failed. It is an ErrConditionFailed.
type ConditionError struct {
	// Failed are the refused writes, by their index among those handed to Do (always 0) or Transact.
	// The item is what is stored there, if the write asked for it with WithOld and something is.
	Failed map[int]Item
	cause  error
}

func (e *ConditionError) Error() string {
	return fmt.Sprintf("%v: %v", ErrConditionFailed, e.cause)
}

// Is makes the error an ErrConditionFailed.
func (e *ConditionError) Is(target error) bool { return target == ErrConditionFailed }

// Unwrap is what the SDK said.
func (e *ConditionError) Unwrap() error { return e.cause }

// FailedAt reports whether err says that the condition of the i-th write failed.
func FailedAt(err error, i int) bool {
	var failed *ConditionError
	if !errors.As(err, &failed) {
		return false
	}
	_, ok := failed.Failed[i]
	return ok
}

// OldItem is what the i-th write, whose condition failed, found in its place;
// nil if there was nothing or it was not asked for.
func OldItem(err error, i int) Item {
	var failed *ConditionError
	if !errors.As(err, &failed) {
		return nil
	}
	return failed.Failed[i]
}

// classOfCode is the class of what DynamoDB names, be it an error or a cancellation reason.
// What the table does not have is decided by classify.
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
}

// classify turns what the SDK answered into one of the classes above, the SDK's error kept as the cause.
// It is the only place that knows AWS's names.
func classify(op string, err error) error {
	if err == nil {
		return nil
	}
	var canceled *types.TransactionCanceledException
	if errors.As(err, &canceled) {
		return classifyReasons(op, canceled)
	}
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		return &ConditionError{Failed: map[int]Item{0: refused.Item}, cause: err}
	}
	if class := classOf(err); class != nil {
		return fmt.Errorf("%w: %s: %w", class, op, err)
	}
	return fmt.Errorf("db: %s: %w", op, err)
}

func classOf(err error) error {
	var named smithy.APIError
	if errors.As(err, &named) {
		if class, ok := classOfCode[named.ErrorCode()]; ok {
			return class
		}
	}
	if awsclient.Unavailable(err) {
		return ErrUnavailable
	}
	return nil
}

// classifyReasons reads the reasons of a cancelled transaction, which stand in the order of its writes.
// A failed condition decides, whatever else happened beside it: trying again would meet it again.
func classifyReasons(op string, canceled *types.TransactionCanceledException) error {
	failed := map[int]Item{}
	var class error
	for i, reason := range canceled.CancellationReasons {
		code := ""
		if reason.Code != nil {
			code = *reason.Code
		}
		switch c := classOfCode[code]; {
		case errors.Is(c, ErrConditionFailed):
			failed[i] = reason.Item
		case c != nil && !errors.Is(class, ErrUnavailable):
			class = c
		}
	}
	if len(failed) > 0 {
		return &ConditionError{Failed: failed, cause: canceled}
	}
	if class != nil {
		return fmt.Errorf("%w: %s: %w", class, op, canceled)
	}
	return fmt.Errorf("db: %s: %w", op, canceled)
}
