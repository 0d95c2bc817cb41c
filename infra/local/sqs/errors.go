package sqs

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"devplatform/infra/local/awsjson"
)

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
	kindNotInFlight       = legacyKind("MessageNotInflight")
	kindEmptyBatch        = legacyKind("EmptyBatchRequest")
	kindTooManyEntries    = legacyKind("TooManyEntriesInBatchRequest")
	kindIDsNotDistinct    = legacyKind("BatchEntryIdsNotDistinct")
	kindBatchEntryID      = legacyKind("InvalidBatchEntryId")
	kindBatchTooLong      = legacyKind("BatchRequestTooLong")
	kindParameterValue    = kind{framework + "InvalidParameterValueException", "InvalidParameterValue", 400}
	kindMissingParameter  = kind{framework + "MissingRequiredParameterException", "MissingParameter", 400}
)

func plainKind(name string, status int) kind { return kind{namespace + name, name, status} }

func legacyKind(name string) kind { return kind{namespace + name, legacy + name, 400} }

func (k kind) error(format string, args ...any) error {
	return &awsjson.Error{
		Type: k.name, Message: fmt.Sprintf(format, args...), Status: k.status, QueryError: k.code + ";Sender",
	}
}

func invalid(format string, args ...any) error { return kindParameterValue.error(format, args...) }

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

// maxEntries is AWS's limit of entries in a batch.
const maxEntries = 10

var batchEntryID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

type batchEntry interface{ entryID() string }

type entry struct {
	ID string `json:"Id"`
}

func (e entry) entryID() string { return e.ID }

type batchOutput[T any] struct {
	Successful []T            `json:"Successful"`
	Failed     []batchFailure `json:"Failed,omitempty"`
}

type batchFailure struct {
	ID          string `json:"Id"`
	SenderFault bool   `json:"SenderFault"`
	Code        string `json:"Code"`
	Message     string `json:"Message"`
}

// checkBatch returns an error if SQS rejects the batch as a whole.
func checkBatch[E batchEntry](entries []E) error {
	if len(entries) == 0 {
		return kindEmptyBatch.error("The batch must have at least one entry.")
	}
	if len(entries) > maxEntries {
		return kindTooManyEntries.error("The batch has %d entries. The maximum is %d.", len(entries), maxEntries)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		id := e.entryID()
		if !batchEntryID.MatchString(id) {
			return kindBatchEntryID.error("The Id of an entry must have 1 to 80 letters, digits, hyphens and underscores.")
		}
		if seen[id] {
			return kindIDsNotDistinct.error("Two entries have the Id %s.", id)
		}
		seen[id] = true
	}
	return nil
}

// newBatchOutput returns the response to a batch. errs has one error, or nil, for each entry. success returns the
// result of an entry that succeeded.
func newBatchOutput[E batchEntry, T any](entries []E, errs []error, success func(i int, id entry) T) *batchOutput[T] {
	out := &batchOutput[T]{Successful: make([]T, 0, len(entries))}
	for i, e := range entries {
		id := entry{e.entryID()}
		if errs[i] == nil {
			out.Successful = append(out.Successful, success(i, id))
			continue
		}
		failure := batchFailure{ID: id.ID, Code: "InternalError", Message: "Internal error."}
		var refused *awsjson.Error
		if errors.As(errs[i], &refused) {
			code, fault, _ := strings.Cut(refused.QueryError, ";")
			failure.Code, failure.SenderFault, failure.Message = code, fault == "Sender", refused.Message
		}
		out.Failed = append(out.Failed, failure)
	}
	return out
}
