package sqs

import (
	"errors"
	"fmt"
	"net/http"
)

// errorType is a kind of refusal, as AWS names it in three places.
type errorType struct {
	name   string // the __type of the body: SDKs look at the part after the #
	code   string // in the header x-amzn-query-error and in entries of batches: the name from the time of the query protocol
	status int
}

const (
	modelled = "com.amazonaws.sqs#"
	coral    = "com.amazon.coral.service#" // AWS's service framework
	legacy   = "AWS.SimpleQueueService."
)

// The codes and statuses are those of the awsQueryError traits of AWS's model.
var (
	typeQueueDoesNotExist  = errorType{modelled + "QueueDoesNotExist", legacy + "NonExistentQueue", http.StatusBadRequest}
	typeQueueNameExists    = errorType{modelled + "QueueNameExists", "QueueAlreadyExists", http.StatusBadRequest}
	typeAttributeName      = errorType{modelled + "InvalidAttributeName", "InvalidAttributeName", http.StatusBadRequest}
	typeAttributeValue     = errorType{modelled + "InvalidAttributeValue", "InvalidAttributeValue", http.StatusBadRequest}
	typeMessageContents    = errorType{modelled + "InvalidMessageContents", "InvalidMessageContents", http.StatusBadRequest}
	typeReceiptHandle      = errorType{modelled + "ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", http.StatusNotFound}
	typeNotInFlight        = errorType{modelled + "MessageNotInflight", legacy + "MessageNotInflight", http.StatusBadRequest}
	typeOverLimit          = errorType{modelled + "OverLimit", "OverLimit", http.StatusForbidden}
	typePurgeInProgress    = errorType{modelled + "PurgeQueueInProgress", legacy + "PurgeQueueInProgress", http.StatusForbidden}
	typeEmptyBatch         = errorType{modelled + "EmptyBatchRequest", legacy + "EmptyBatchRequest", http.StatusBadRequest}
	typeTooManyEntries     = errorType{modelled + "TooManyEntriesInBatchRequest", legacy + "TooManyEntriesInBatchRequest", http.StatusBadRequest}
	typeIDsNotDistinct     = errorType{modelled + "BatchEntryIdsNotDistinct", legacy + "BatchEntryIdsNotDistinct", http.StatusBadRequest}
	typeBatchEntryID       = errorType{modelled + "InvalidBatchEntryId", legacy + "InvalidBatchEntryId", http.StatusBadRequest}
	typeBatchTooLong       = errorType{modelled + "BatchRequestTooLong", legacy + "BatchRequestTooLong", http.StatusBadRequest}
	typeUnsupported        = errorType{modelled + "UnsupportedOperation", legacy + "UnsupportedOperation", http.StatusBadRequest}
	typeResourceNotFound   = errorType{modelled + "ResourceNotFoundException", "ResourceNotFoundException", http.StatusNotFound}
	typeParameterValue     = errorType{coral + "InvalidParameterValueException", "InvalidParameterValue", http.StatusBadRequest}
	typeMissingParameter   = errorType{coral + "MissingRequiredParameterException", "MissingParameter", http.StatusBadRequest}
	typeUnknownOperation   = errorType{coral + "UnknownOperationException", "InvalidAction", http.StatusBadRequest}
	typeSerialization      = errorType{coral + "SerializationException", "MalformedInput", http.StatusBadRequest}
	typeAccessDenied       = errorType{coral + "AccessDeniedException", "AccessDenied", http.StatusForbidden}
	typeIncomplete         = errorType{coral + "IncompleteSignatureException", "IncompleteSignature", http.StatusBadRequest}
	typeInternal           = errorType{coral + "InternalFailure", "InternalFailure", http.StatusInternalServerError}
	typeServiceUnavailable = errorType{coral + "ServiceUnavailableException", "ServiceUnavailable", http.StatusServiceUnavailable}
)

// apiError is an answer other than success, in AWS's words.
type apiError struct {
	Type    errorType
	Message string
}

func (e *apiError) Error() string { return e.Type.name + ": " + e.Message }

// fault says whose the mistake is: "Sender" or "Receiver".
func (e *apiError) fault() string {
	if e.Type.status >= http.StatusInternalServerError {
		return "Receiver"
	}
	return "Sender"
}

func refuse(kind errorType, format string, args ...any) *apiError {
	return &apiError{Type: kind, Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *apiError {
	return refuse(typeParameterValue, format, args...)
}

// invalidValue is how AWS refuses the value of most parameters.
func invalidValue(value any, parameter, reason string) *apiError {
	return invalid("Value %v for parameter %s is invalid. Reason: %s", value, parameter, reason)
}

func missing(parameter string) *apiError {
	return refuse(typeMissingParameter, "The request must contain the parameter %s.", parameter)
}

func unknownAttribute(name string) *apiError {
	return refuse(typeAttributeName, "Unknown Attribute %s.", name)
}

func invalidAttribute(name string) *apiError {
	return refuse(typeAttributeValue, "Invalid value for the parameter %s.", name)
}

var errNoQueue = &apiError{Type: typeQueueDoesNotExist, Message: "The specified queue does not exist."}

// asAPIError turns whatever an operation failed with into an answer; what is not
// a refusal is an internal error.
func asAPIError(err error) (refused *apiError, expected bool) {
	if errors.As(err, &refused) {
		return refused, true
	}
	return &apiError{Type: typeInternal, Message: "We encountered an internal error. Please try again."}, false
}
