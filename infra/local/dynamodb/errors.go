package dynamodb

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
	typeValidation         = "ValidationException"
	typeAccessDenied       = "AccessDeniedException"
	typeConditionFailed    = "ConditionalCheckFailedException"
	typeNotFound           = "ResourceNotFoundException"
	typeInUse              = "ResourceInUseException"
	typeLimitExceeded      = "LimitExceededException"
	typeCanceled           = "TransactionCanceledException"
	typeIdempotentMismatch = "IdempotentParameterMismatchException"
	typeTrimmed            = "TrimmedDataAccessException"
	typeExpiredIterator    = "ExpiredIteratorException"
)

// invalid returns a ValidationException.
func invalid(format string, args ...any) error { return errorOf(typeValidation, format, args...) }

// errorOf returns an error response of the given type.
func errorOf(errorType, format string, args ...any) error {
	return &awsjson.Error{Type: errorType, Message: fmt.Sprintf(format, args...)}
}

// conditionFailed returns the error for a condition that the item does not meet. If item is not nil, the response
// contains it.
func conditionFailed(item values.Item) error {
	failed := &awsjson.Error{Type: typeConditionFailed, Message: "The conditional request failed"}
	if item != nil {
		failed.Fields = map[string]any{"Item": item}
	}
	return failed
}

// cancellationReason is the result of one action of a canceled transaction.
type cancellationReason struct {
	Code    string
	Item    values.Item `json:",omitzero"`
	Message string      `json:",omitzero"`
}

// asReason returns the reason for an error of an action, or nil if the error rejects the whole request.
func asReason(err error) *cancellationReason {
	switch response := asAPIError(err); {
	case response == nil:
		return nil
	case response.Type == typeConditionFailed:
		item, _ := response.Fields["Item"].(values.Item)
		return &cancellationReason{Code: "ConditionalCheckFailed", Message: response.Message, Item: item}
	case response.Type == typeValidation:
		return &cancellationReason{Code: "ValidationError", Message: response.Message}
	}
	return nil
}

// canceled returns the error for a transaction with the reasons, in the order of the actions. It returns nil if all
// reasons are nil.
func canceled(reasons []*cancellationReason) error {
	if !slices.ContainsFunc(reasons, func(r *cancellationReason) bool { return r != nil }) {
		return nil
	}
	codes := make([]string, len(reasons))
	for i, reason := range reasons {
		if reason == nil {
			reasons[i] = &cancellationReason{Code: "None"}
		}
		codes[i] = reasons[i].Code
	}
	return &awsjson.Error{
		Type: typeCanceled,
		Message: "Transaction cancelled, please refer cancellation reasons for specific reasons " +
			"[" + strings.Join(codes, ", ") + "]",
		Fields: map[string]any{"CancellationReasons": reasons},
	}
}

// legacyParameters are the parameters that expressions have replaced.
var legacyParameters = []string{
	"AttributesToGet", "AttributeUpdates", "ConditionalOperator", "Expected", "KeyConditions", "QueryFilter", "ScanFilter",
}

// asAPIError returns the response for an error. It returns nil for an internal error.
func asAPIError(err error) *awsjson.Error {
	if response := (*awsjson.Error)(nil); errors.As(err, &response) {
		return response
	}
	if rejected := (*values.Error)(nil); errors.As(err, &rejected) {
		if rejected.Serialization {
			return &awsjson.Error{Type: awsjson.TypeSerialization, Message: rejected.Message}
		}
		return &awsjson.Error{Type: typeValidation, Message: rejected.Message}
	}
	if unknown := (*json.SemanticError)(nil); errors.Is(err, json.ErrUnknownName) && errors.As(err, &unknown) {
		name := unknown.JSONPointer.LastToken()
		if slices.Contains(legacyParameters, name) {
			return &awsjson.Error{
				Type: typeValidation,
				Message: "Can not use both expression and non-expression parameters. " +
					"The embedded DynamoDB does not support the non-expression parameter " + name + ": use expressions",
			}
		}
		return &awsjson.Error{
			Type: typeValidation, Message: "The embedded DynamoDB does not support the parameter " + name,
		}
	}
	return nil
}
