// Package wire is the API of DynamoDB and DynamoDB Streams: the requests, responses and errors of their operations, and
// all checks of requests that do not depend on a table. The operations themselves do not belong here.
package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"devplatform/infra/local/awsjson"
	"devplatform/infra/local/dynamodb/values"

	"github.com/go-json-experiment/json"
)

// Error types.
const (
	TypeValidation         = "ValidationException"
	TypeAccessDenied       = "AccessDeniedException"
	TypeConditionFailed    = "ConditionalCheckFailedException"
	TypeNotFound           = "ResourceNotFoundException"
	TypeInUse              = "ResourceInUseException"
	TypeLimitExceeded      = "LimitExceededException"
	TypeCanceled           = "TransactionCanceledException"
	TypeIdempotentMismatch = "IdempotentParameterMismatchException"
	TypeInProgress         = "TransactionInProgressException"
	TypeTrimmed            = "TrimmedDataAccessException"
	TypeExpiredIterator    = "ExpiredIteratorException"
)

// Invalid returns a ValidationException.
func Invalid(format string, args ...any) error { return Errorf(TypeValidation, format, args...) }

// Errorf returns an error response of the given type.
func Errorf(errorType, format string, args ...any) error {
	return &awsjson.Error{Type: errorType, Message: fmt.Sprintf(format, args...)}
}

// ConditionFailed returns the error for a condition that the item does not meet. If item is not nil, the response
// contains it.
func ConditionFailed(item values.Item) error {
	failed := &awsjson.Error{Type: TypeConditionFailed, Message: "The conditional request failed"}
	if item != nil {
		failed.Fields = map[string]any{"Item": item}
	}
	return failed
}

// CancellationReason is the result of one action of a canceled transaction.
type CancellationReason struct {
	Code    string
	Item    values.Item `json:",omitzero"`
	Message string      `json:",omitzero"`
}

// AsReason returns the reason for an error of an action, or nil if the error rejects the whole request.
func AsReason(err error) *CancellationReason {
	switch response := AsError(err); {
	case response == nil:
		return nil
	case response.Type == TypeConditionFailed:
		item, _ := response.Fields["Item"].(values.Item)
		return &CancellationReason{Code: "ConditionalCheckFailed", Message: response.Message, Item: item}
	case response.Type == TypeValidation:
		return &CancellationReason{Code: "ValidationError", Message: response.Message}
	}
	return nil
}

// Canceled returns the error for a transaction with the reasons, in the order of the actions. It returns nil if all
// reasons are nil.
func Canceled(reasons []*CancellationReason) error {
	if !slices.ContainsFunc(reasons, func(r *CancellationReason) bool { return r != nil }) {
		return nil
	}
	codes := make([]string, len(reasons))
	for i, reason := range reasons {
		if reason == nil {
			reasons[i] = &CancellationReason{Code: "None"}
		}
		codes[i] = reasons[i].Code
	}
	return &awsjson.Error{
		Type: TypeCanceled,
		Message: "Transaction cancelled, please refer cancellation reasons for specific reasons " +
			"[" + strings.Join(codes, ", ") + "]",
		Fields: map[string]any{"CancellationReasons": reasons},
	}
}

// legacyParameters are the parameters that expressions have replaced.
var legacyParameters = []string{
	"AttributesToGet", "AttributeUpdates", "ConditionalOperator", "Expected", "KeyConditions", "QueryFilter", "ScanFilter",
}

// AsError returns the response for an error. It returns nil for an internal error.
func AsError(err error) *awsjson.Error {
	if response := (*awsjson.Error)(nil); errors.As(err, &response) {
		return response
	}
	if rejected := (*values.Error)(nil); errors.As(err, &rejected) {
		if rejected.Serialization {
			return &awsjson.Error{Type: awsjson.TypeSerialization, Message: rejected.Message}
		}
		return &awsjson.Error{Type: TypeValidation, Message: rejected.Message}
	}
	if unknown := (*json.SemanticError)(nil); errors.Is(err, json.ErrUnknownName) && errors.As(err, &unknown) {
		name := unknown.JSONPointer.LastToken()
		if slices.Contains(legacyParameters, name) {
			return &awsjson.Error{
				Type: TypeValidation,
				Message: "Can not use both expression and non-expression parameters. " +
					"The embedded DynamoDB does not support the non-expression parameter " + name + ": use expressions",
			}
		}
		return &awsjson.Error{
			Type: TypeValidation, Message: "The embedded DynamoDB does not support the parameter " + name,
		}
	}
	return nil
}
