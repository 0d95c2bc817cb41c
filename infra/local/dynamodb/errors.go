package dynamodb

import (
	"errors"
	"fmt"
	"net/http"

	"devplatform/infra/local/dynamodb/attr"
	"devplatform/infra/local/dynamodb/expr"
)

// errorType is the __type of an error body: the namespaces differ by the layer
// of AWS's service that refuses, and SDKs look at the part after the #.
type errorType string

const (
	typeValidation         errorType = "com.amazon.coral.validate#ValidationException"
	typeSerialization      errorType = "com.amazon.coral.service#SerializationException"
	typeUnknownOperation   errorType = "com.amazon.coral.service#UnknownOperationException"
	typeMissingToken       errorType = "com.amazon.coral.service#MissingAuthenticationTokenException"
	typeIncomplete         errorType = "com.amazon.coral.service#IncompleteSignatureException"
	typeConditionFailed    errorType = "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"
	typeNotFound           errorType = "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"
	typeInUse              errorType = "com.amazonaws.dynamodb.v20120810#ResourceInUseException"
	typeLimitExceeded      errorType = "com.amazonaws.dynamodb.v20120810#LimitExceededException"
	typeCanceled           errorType = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException"
	typeIdempotentMismatch errorType = "com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException"
	typeInProgress         errorType = "com.amazonaws.dynamodb.v20120810#TransactionInProgressException"
	typeTrimmed            errorType = "com.amazonaws.dynamodb.v20120810#TrimmedDataAccessException"
	typeExpiredIterator    errorType = "com.amazonaws.dynamodb.v20120810#ExpiredIteratorException"
	typeInternal           errorType = "com.amazonaws.dynamodb.v20120810#InternalServerError"
)

// apiError is an answer other than success, in AWS's words.
type apiError struct {
	Type    errorType
	Message string

	// Item is the item as it was when a condition failed and the request asked for it.
	Item attr.Item
	// upFront says that in a transaction the whole request is refused, where
	// other validation errors become the action's reason.
	upFront bool
	// Reasons say, in the order of a cancelled transaction's actions, what became of each.
	Reasons []cancellationReason
}

func (e *apiError) Error() string { return string(e.Type) + ": " + e.Message }

func (e *apiError) status() int {
	if e.Type == typeInternal {
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

// cancellationReason is what became of one action of a cancelled transaction.
type cancellationReason struct {
	Code    string    `json:"Code"`
	Item    attr.Item `json:"Item,omitzero"`
	Message string    `json:"Message,omitzero"`
}

// errorBody is the JSON of an apiError. Which spelling of the message a type
// has is AWS's habit; the SDKs read both.
type errorBody struct {
	Type         errorType            `json:"__type"`
	Message      string               `json:"message,omitzero"`
	UpperMessage string               `json:"Message,omitzero"`
	Item         attr.Item            `json:"Item,omitzero"`
	Reasons      []cancellationReason `json:"CancellationReasons,omitzero"`
}

func (e *apiError) body() errorBody {
	body := errorBody{Type: e.Type, Item: e.Item, Reasons: e.Reasons}
	switch e.Type {
	case typeSerialization, typeCanceled, typeIdempotentMismatch, typeInProgress:
		body.UpperMessage = e.Message
	default:
		body.Message = e.Message
	}
	return body
}

func invalid(format string, args ...any) *apiError {
	return &apiError{Type: typeValidation, Message: fmt.Sprintf(format, args...)}
}

func upFront(format string, args ...any) *apiError {
	e := invalid(format, args...)
	e.upFront = true
	return e
}

// invalidParameters is the beginning of most of AWS's validation messages.
func invalidParameters(format string, args ...any) *apiError {
	return invalid("One or more parameter values were invalid: "+format, args...)
}

// oneError is how AWS begins the report of one broken rule.
const oneError = "1 validation error detected: "

// enveloped words what is wrong with the content of a PutItem, UpdateItem or
// DeleteItem: AWS checks those three in its renewed way, which counts errors
// of every kind as it counts those of members.
func enveloped(err error) error {
	refused, expected := asAPIError(err)
	if !expected || refused.Type != typeValidation {
		return err
	}
	return invalid("%s%s", oneError, refused.Message)
}

// inOlderWords words what is wrong with a value in BatchWriteItem, Scan and
// the transactions, whose checks AWS has not renewed.
func inOlderWords(err error) error {
	var badValue *attr.Error
	if !errors.As(err, &badValue) {
		return err
	}
	return &attr.Error{Message: badValue.InOlderWords(), Serialization: badValue.Serialization}
}

var errTableNotFound = &apiError{Type: typeNotFound, Message: "Requested resource not found"}

func errConditionFailed(item attr.Item) *apiError {
	return &apiError{Type: typeConditionFailed, Message: "The conditional request failed", Item: item}
}

// asAPIError turns whatever an operation failed with into an answer; what is
// neither AWS's refusal nor one of its layers' is an internal error.
func asAPIError(err error) (*apiError, bool) {
	var refused *apiError
	if errors.As(err, &refused) {
		return refused, true
	}
	var badValue *attr.Error
	if errors.As(err, &badValue) {
		if badValue.Serialization {
			return &apiError{Type: typeSerialization, Message: badValue.Message}, true
		}
		return &apiError{Type: typeValidation, Message: badValue.Message}, true
	}
	var badExpression *expr.Error
	if errors.As(err, &badExpression) {
		return &apiError{Type: typeValidation, Message: badExpression.Message}, true
	}
	return &apiError{Type: typeInternal, Message: "Internal server error"}, false
}
