package sqs

import (
	"errors"
	"fmt"
	"net/http"

	"devplatform/infra/local/awsjson"
)

// kind is an error type.
type kind struct {
	name   string // in the body; SDKs read the part after the "#"
	code   string // of the older Query protocol, in the header x-amzn-query-error and in entries of batches
	status int
}

const (
	namespace = "com.amazonaws.sqs#"
	framework = "com.amazon.coral.service#"
	legacy    = "AWS.SimpleQueueService."
)

// The codes and statuses are defined in AWS's model (the trait awsQueryError).
var (
	kindQueueDoesNotExist = kind{namespace + "QueueDoesNotExist", legacy + "NonExistentQueue", 400}
	kindQueueNameExists   = kind{namespace + "QueueNameExists", "QueueAlreadyExists", 400}
	kindAttributeName     = plainKind("InvalidAttributeName", 400)
	kindAttributeValue    = plainKind("InvalidAttributeValue", 400)
	kindMessageContents   = plainKind("InvalidMessageContents", 400)
	kindReceiptHandle     = plainKind("ReceiptHandleIsInvalid", 404)
	kindResourceNotFound  = plainKind("ResourceNotFoundException", 404)
	kindNotInFlight       = legacyKind("MessageNotInflight")
	kindEmptyBatch        = legacyKind("EmptyBatchRequest")
	kindTooManyEntries    = legacyKind("TooManyEntriesInBatchRequest")
	kindIDsNotDistinct    = legacyKind("BatchEntryIdsNotDistinct")
	kindBatchEntryID      = legacyKind("InvalidBatchEntryId")
	kindBatchTooLong      = legacyKind("BatchRequestTooLong")
	kindParameterValue    = kind{framework + "InvalidParameterValueException", "InvalidParameterValue", 400}
	kindUnavailable       = kind{framework + "ServiceUnavailableException", "ServiceUnavailable", 503}
	kindMissingParameter  = kind{framework + "MissingRequiredParameterException", "MissingParameter", 400}
)

func plainKind(name string, status int) kind { return kind{namespace + name, name, status} }

func legacyKind(name string) kind { return kind{namespace + name, legacy + name, 400} }

func (k kind) error(format string, args ...any) error {
	fault := "Sender"
	if k.status >= http.StatusInternalServerError {
		fault = "Receiver"
	}
	return &awsjson.Error{
		Type: k.name, Message: fmt.Sprintf(format, args...), Status: k.status, QueryError: k.code + ";" + fault,
	}
}

func invalid(format string, args ...any) error { return kindParameterValue.error(format, args...) }

// checkRange checks an optional number.
func checkRange(parameter string, value *int64, lowest, highest int64) error {
	if value != nil && (*value < lowest || *value > highest) {
		return invalid("%s must be from %d to %d.", parameter, lowest, highest)
	}
	return nil
}

func missing(parameter string) error {
	return kindMissingParameter.error("The request must contain the parameter %s.", parameter)
}

func unknownAttribute(name string) error {
	return kindAttributeName.error("The attribute %s does not exist here.", name)
}

var errNoQueue = kindQueueDoesNotExist.error("The specified queue does not exist.")

var errDamaged = errors.New("damaged record")
