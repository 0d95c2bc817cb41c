package db

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"devplatform/shared/awsclient"
)

// The classes of storage errors, for errors.Is. Any other error is a bug or a mistake in the deployment, such as a
// missing table or a malformed expression. Clients see it as INTERNAL_ERROR.
var (
	// ErrNotFound reports that the item does not exist or has expired.
	ErrNotFound = errors.New("db: not found")
	// ErrConditionFailed reports that the condition of a write was not satisfied. *ConditionError has the details.
	ErrConditionFailed = errors.New("db: condition failed")
	// ErrConflict reports that other writers were changing the same item. Nothing was written. Retrying is safe.
	ErrConflict = errors.New("db: conflict")
	// ErrUnavailable reports that DynamoDB throttled the call, failed, or did not respond in time. A write may have
	// happened.
	ErrUnavailable = errors.New("db: unavailable")
	// ErrInvalidKey reports a write with a key that was built from an invalid part.
	ErrInvalidKey = errors.New("db: invalid key")
)

// ConditionError contains the writes whose conditions failed. It is an ErrConditionFailed.
type ConditionError struct {
	// Failed maps the index of each such write in the arguments of Transact (0 for Do) to the stored item. The item is
	// nil if there is none or WithOld was not used.
	Failed map[int]Item
	cause  error
}

func (e *ConditionError) Error() string {
	return fmt.Sprintf("%v: %v", ErrConditionFailed, e.cause)
}

// Is makes the error an ErrConditionFailed.
func (e *ConditionError) Is(target error) bool { return target == ErrConditionFailed }

// Unwrap returns the SDK's error.
func (e *ConditionError) Unwrap() error { return e.cause }

// FailedAt reports whether err is a ConditionError of the i-th write.
func FailedAt(err error, i int) bool {
	var failed *ConditionError
	if !errors.As(err, &failed) {
		return false
	}
	_, ok := failed.Failed[i]
	return ok
}

// OldItem returns the stored item that made the condition of the i-th write fail, nil if there was none or WithOld
// was not used.
func OldItem(err error, i int) Item {
	var failed *ConditionError
	if !errors.As(err, &failed) {
		return nil
	}
	return failed.Failed[i]
}

// classOfCode maps DynamoDB's error codes and cancellation reasons to classes. classOf also classifies other errors.
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

// classify wraps an error of the SDK in its class.
func classify(op string, err error) error {
	if err == nil {
		return nil
	}
	var canceled *types.TransactionCanceledException
	if errors.As(err, &canceled) {
		return classifyReasons(op, canceled)
	}
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return &ConditionError{Failed: map[int]Item{0: failed.Item}, cause: err}
	}
	if class := classOf(err); class != nil {
		return fmt.Errorf("%w: %s: %w", class, op, err)
	}
	return fmt.Errorf("db: %s: %w", op, err)
}

func classOf(err error) error {
	var apiError smithy.APIError
	if errors.As(err, &apiError) {
		if class, ok := classOfCode[apiError.ErrorCode()]; ok {
			return class
		}
	}
	if awsclient.Unavailable(err) {
		return ErrUnavailable
	}
	return nil
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
		return &ConditionError{Failed: failed, cause: canceled}
	}
	if class != nil {
		return fmt.Errorf("%w: %s: %w", class, op, canceled)
	}
	return fmt.Errorf("db: %s: %w", op, canceled)
}
