package api

import (
	"errors"
	"fmt"
	"net/http"

	"devplatform/shared/config"
	"devplatform/shared/db"
)

// Code is the machine-readable half of an error answer, one of API.md's.
type Code string

// The codes of API.md §1.
const (
	CodeInvalidCredentials   Code = "AUTH_INVALID_CREDENTIALS" //nolint:gosec // a code
	CodeUserExists           Code = "AUTH_USER_EXISTS"
	CodeAuthRateLimited      Code = "AUTH_RATE_LIMITED"
	CodeInvalidToken         Code = "AUTH_INVALID_TOKEN" //nolint:gosec // a code
	CodeCSRFRejected         Code = "AUTH_CSRF_REJECTED"
	CodeOAuthNotConfigured   Code = "AUTH_OAUTH_NOT_CONFIGURED"
	CodeOAuthStateInvalid    Code = "AUTH_OAUTH_STATE_INVALID"
	CodeOAuthFailed          Code = "AUTH_OAUTH_FAILED"
	CodeValidationFailed     Code = "VALIDATION_FAILED"
	CodeAccessDenied         Code = "ACCESS_DENIED"
	CodeProjectNotFound      Code = "PROJECT_NOT_FOUND"
	CodeFileNotFound         Code = "FILE_NOT_FOUND"
	CodeWorkspaceNotFound    Code = "WORKSPACE_NOT_FOUND"
	CodeMemberNotFound       Code = "MEMBER_NOT_FOUND"
	CodeUserNotFound         Code = "USER_NOT_FOUND"
	CodeSessionNotFound      Code = "SESSION_NOT_FOUND"
	CodeCommentNotFound      Code = "COMMENT_NOT_FOUND"
	CodeMessageNotFound      Code = "MESSAGE_NOT_FOUND"
	CodeWebhookNotFound      Code = "WEBHOOK_NOT_FOUND"
	CodeDeliveryNotFound     Code = "DELIVERY_NOT_FOUND"
	CodeRouteNotFound        Code = "ROUTE_NOT_FOUND"
	CodeMethodNotAllowed     Code = "METHOD_NOT_ALLOWED"
	CodePreconditionFailed   Code = "PRECONDITION_FAILED"
	CodeConflict             Code = "CONFLICT"
	CodePayloadTooLarge      Code = "PAYLOAD_TOO_LARGE"
	CodeUnsupportedMediaType Code = "UNSUPPORTED_MEDIA_TYPE"
	CodeQuotaExceeded        Code = "QUOTA_EXCEEDED"
	CodeRateLimited          Code = "RATE_LIMITED"
	CodeAIUnavailable        Code = "AI_UNAVAILABLE"
	CodeAIRefused            Code = "AI_REFUSED"
	CodeServiceUnavailable   Code = "SERVICE_UNAVAILABLE"
	CodeInternal             Code = "INTERNAL_ERROR"
)

// statusOf is API.md's table of codes: the one place that knows a code's status.
var statusOf = map[Code]int{
	CodeInvalidCredentials:   http.StatusUnauthorized,
	CodeUserExists:           http.StatusConflict,
	CodeAuthRateLimited:      http.StatusTooManyRequests,
	CodeInvalidToken:         http.StatusUnauthorized,
	CodeCSRFRejected:         http.StatusForbidden,
	CodeOAuthNotConfigured:   http.StatusNotImplemented,
	CodeOAuthStateInvalid:    http.StatusBadRequest,
	CodeOAuthFailed:          http.StatusUnauthorized,
	CodeValidationFailed:     http.StatusBadRequest,
	CodeAccessDenied:         http.StatusForbidden,
	CodeProjectNotFound:      http.StatusNotFound,
	CodeFileNotFound:         http.StatusNotFound,
	CodeWorkspaceNotFound:    http.StatusNotFound,
	CodeMemberNotFound:       http.StatusNotFound,
	CodeUserNotFound:         http.StatusNotFound,
	CodeSessionNotFound:      http.StatusNotFound,
	CodeCommentNotFound:      http.StatusNotFound,
	CodeMessageNotFound:      http.StatusNotFound,
	CodeWebhookNotFound:      http.StatusNotFound,
	CodeDeliveryNotFound:     http.StatusNotFound,
	CodeRouteNotFound:        http.StatusNotFound,
	CodeMethodNotAllowed:     http.StatusMethodNotAllowed,
	CodePreconditionFailed:   http.StatusPreconditionFailed,
	CodeConflict:             http.StatusConflict,
	CodePayloadTooLarge:      http.StatusRequestEntityTooLarge,
	CodeUnsupportedMediaType: http.StatusUnsupportedMediaType,
	CodeQuotaExceeded:        http.StatusPaymentRequired,
	CodeRateLimited:          http.StatusTooManyRequests,
	CodeAIUnavailable:        http.StatusServiceUnavailable,
	CodeAIRefused:            http.StatusUnprocessableEntity,
	CodeServiceUnavailable:   http.StatusServiceUnavailable,
	CodeInternal:             http.StatusInternalServerError,
}

// Status is the HTTP status of a code; 500 for what is no code of API.md.
func (c Code) Status() int {
	if status, ok := statusOf[c]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// Error is what a client is told: on the wire exactly {"error": Message, "code": Code}.
// Message is for people and never holds a cause, an internal name or what the client sent;
// the cause goes to the log alone.
type Error struct {
	Message string `json:"error" doc:"What went wrong, for people." example:"The session is missing or has ended."`
	Code    Code   `json:"code" doc:"What went wrong, for machines." example:"AUTH_INVALID_TOKEN"`

	headers http.Header
	cause   error
}

// NewError makes an error answer with a message that is safe to show.
func NewError(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// WithCause answers with the error, with err as what the log says about it. Errors are not changed in place.
func (e *Error) WithCause(err error) *Error {
	with := *e
	with.cause = err
	return &with
}

// WithHeader answers with the error, with one more header on its answer.
func (e *Error) WithHeader(key, value string) *Error {
	with := *e
	with.headers = e.headers.Clone()
	if with.headers == nil {
		with.headers = http.Header{}
	}
	with.headers.Add(key, value)
	return &with
}

// Error is the text for the log, the cause included.
func (e *Error) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.cause)
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.cause }

// Is makes two errors of one code the same to errors.Is.
func (e *Error) Is(target error) bool {
	var other *Error
	return errors.As(target, &other) && other.Code == e.Code
}

// GetStatus is the answer's HTTP status; huma asks for it.
func (e *Error) GetStatus() int { return e.Code.Status() }

// GetHeaders are the headers of the answer; huma asks for them.
func (e *Error) GetHeaders() http.Header { return e.headers }

// retryAfter is how many seconds a client should leave a struggling service alone.
const retryAfter = "1"

// internalMessage is all that a client hears about a fault of ours.
const internalMessage = "Something went wrong on our side. Please try again."

// What a client is told of errors that are not the handler's own.
var (
	errInternal    = NewError(CodeInternal, internalMessage)
	errUnavailable = NewError(CodeServiceUnavailable, "The service is busy. Please try again.").WithHeader("Retry-After", retryAfter)
	// ErrConflict is what db.ErrConflict is answered with.
	ErrConflict = NewError(CodeConflict, "Somebody else changed this at the same time. Please try again.")
)

// AsError is what a client is told of an error that a handler would return, for answers that can't be one any more.
func AsError(err error) *Error { return asError(err) }

// asError makes an answer of whatever a handler returned. Storage's and the key ring's classes have
// a code of their own; anything unknown is an INTERNAL_ERROR whose cause only the log sees.
func asError(err error) *Error {
	var known *Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, db.ErrUnavailable), errors.Is(err, config.ErrUnavailable):
		return errUnavailable.WithCause(err)
	case errors.Is(err, db.ErrCursor):
		return errCursor.WithCause(err)
	case errors.Is(err, db.ErrConflict):
		return ErrConflict.WithCause(err)
	default:
		return errInternal.WithCause(err)
	}
}
