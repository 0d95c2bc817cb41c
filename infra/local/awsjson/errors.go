package awsjson

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
)

// Error types that every service has. SDKs ignore the namespace before the "#".
const (
	TypeSerialization    = "com.amazon.coral.service#SerializationException"
	TypeUnknownOperation = "com.amazon.coral.service#UnknownOperationException"
)

// Error is an error response.
type Error struct {
	Type    string `json:"__type"` // with or without AWS's namespace
	Message string `json:"message,omitzero"`
	Status  int    `json:"-"` // 0 is 400
	// QueryError is the header x-amzn-query-error: the code of the older Query protocol and "Sender" or "Receiver".
	QueryError string `json:"-"`
	// Fields are further members of the body, such as CancellationReasons.
	Fields map[string]any `json:",embed"`
}

func (e *Error) Error() string { return e.Type + ": " + e.Message }

func (e *Error) status() int {
	if e.Status == 0 {
		return http.StatusBadRequest
	}
	return e.Status
}

var (
	errInternal = &Error{
		Type: "InternalServerError", Message: "Internal error. The platform's log has the cause.",
		Status: http.StatusInternalServerError,
	}
	errTooLarge = &Error{
		Type: "RequestEntityTooLargeException", Message: "The request is too large.",
		Status: http.StatusRequestEntityTooLarge,
	}
	errNoSignature = &Error{
		Type:    "com.amazon.coral.service#MissingAuthenticationTokenException",
		Message: "Request is missing Authentication Token",
	}
	errIncompleteSignature = &Error{
		Type:    "com.amazon.coral.service#IncompleteSignatureException",
		Message: "The request needs a date, and a Signature Version 4 with Credential, SignedHeaders and Signature.",
	}
)

// asError returns the response for an error, nil if it is an internal error.
func (s *Service) asError(err error) *Error {
	var refusal *Error
	if errors.As(err, &refusal) {
		return refusal
	}
	if s.Convert != nil {
		return s.Convert(err)
	}
	return nil
}

// decodingError returns the error response for a request that cannot be decoded. Errors of the values' own decoders
// are the service's, if it converts them.
func (s *Service) decodingError(err error) error {
	if refusal := s.asError(err); refusal != nil {
		return refusal
	}
	var mismatch *json.SemanticError
	if !errors.As(err, &mismatch) {
		return notDecoded("The request's body is not valid JSON.")
	}
	member := strings.ReplaceAll(strings.TrimPrefix(string(mismatch.JSONPointer), "/"), "/", ".")
	switch {
	case errors.Is(err, json.ErrUnknownName):
		return notDecoded("The local platform does not support the parameter %s.", member)
	case member == "":
		return notDecoded("The request's body must be a JSON object.")
	default:
		return notDecoded("The parameter %s has the wrong type or value (a JSON %s).", member, mismatch.JSONKind)
	}
}

func notDecoded(format string, args ...any) *Error {
	return &Error{Type: TypeSerialization, Message: fmt.Sprintf(format, args...)}
}

func unknownOperation(format string, args ...any) *Error {
	return &Error{Type: TypeUnknownOperation, Message: fmt.Sprintf(format, args...)}
}
