// Package fault defines the errors that clients see: a code for programs, a message for people, and the HTTP status of
// each code. Every package may return a fault. This package imports no other package of the project.
package fault

import (
	"errors"
	"fmt"
	"net/http"
)

// Code is the machine-readable part of an error response.
type Code string

// The error codes of the API.
const (
	CodeInvalidCredentials   Code = "AUTH_INVALID_CREDENTIALS" //nolint:gosec // a code
	CodeUserExists           Code = "AUTH_USER_EXISTS"
	CodeAuthRateLimited      Code = "AUTH_RATE_LIMITED"
	CodeInvalidToken         Code = "AUTH_INVALID_TOKEN" //nolint:gosec // a code
	CodeReauthRequired       Code = "AUTH_REAUTHENTICATION_REQUIRED"
	CodeCodeInvalid          Code = "AUTH_CODE_INVALID"
	CodeSuspended            Code = "AUTH_SUSPENDED"
	CodeCSRFRejected         Code = "AUTH_CSRF_REJECTED"
	CodeOAuthNotConfigured   Code = "AUTH_OAUTH_NOT_CONFIGURED"
	CodeOAuthStateInvalid    Code = "AUTH_OAUTH_STATE_INVALID"
	CodeOAuthFailed          Code = "AUTH_OAUTH_FAILED"
	CodeValidationFailed     Code = "VALIDATION_FAILED"
	CodeAccessDenied         Code = "ACCESS_DENIED"
	CodeProjectNotFound      Code = "PROJECT_NOT_FOUND"
	CodeFileNotFound         Code = "FILE_NOT_FOUND"
	CodeUploadNotFound       Code = "UPLOAD_NOT_FOUND"
	CodeWorkspaceNotFound    Code = "WORKSPACE_NOT_FOUND"
	CodeMemberNotFound       Code = "MEMBER_NOT_FOUND"
	CodeInvitationNotFound   Code = "INVITATION_NOT_FOUND"
	CodeUserNotFound         Code = "USER_NOT_FOUND"
	CodeSessionNotFound      Code = "SESSION_NOT_FOUND"
	CodeIdentityNotFound     Code = "IDENTITY_NOT_FOUND"
	CodeCommentNotFound      Code = "COMMENT_NOT_FOUND"
	CodeMessageNotFound      Code = "MESSAGE_NOT_FOUND"
	CodeWebhookNotFound      Code = "WEBHOOK_NOT_FOUND"
	CodeDeliveryNotFound     Code = "DELIVERY_NOT_FOUND"
	CodeExportNotFound       Code = "EXPORT_NOT_FOUND"
	CodeDeploymentNotFound   Code = "DEPLOYMENT_NOT_FOUND"
	CodeSiteNotFound         Code = "SITE_NOT_FOUND"
	CodeSitesNotConfigured   Code = "SITES_NOT_CONFIGURED"
	CodeMailNotConfigured    Code = "MAIL_NOT_CONFIGURED"
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

// StatusOf maps each code to its HTTP status. The status of a code is defined only here.
var StatusOf = map[Code]int{
	CodeInvalidCredentials:   http.StatusUnauthorized,
	CodeUserExists:           http.StatusConflict,
	CodeAuthRateLimited:      http.StatusTooManyRequests,
	CodeInvalidToken:         http.StatusUnauthorized,
	CodeReauthRequired:       http.StatusForbidden,
	CodeCodeInvalid:          http.StatusBadRequest,
	CodeSuspended:            http.StatusForbidden,
	CodeCSRFRejected:         http.StatusForbidden,
	CodeOAuthNotConfigured:   http.StatusNotImplemented,
	CodeOAuthStateInvalid:    http.StatusBadRequest,
	CodeOAuthFailed:          http.StatusUnauthorized,
	CodeValidationFailed:     http.StatusBadRequest,
	CodeAccessDenied:         http.StatusForbidden,
	CodeProjectNotFound:      http.StatusNotFound,
	CodeFileNotFound:         http.StatusNotFound,
	CodeUploadNotFound:       http.StatusNotFound,
	CodeWorkspaceNotFound:    http.StatusNotFound,
	CodeMemberNotFound:       http.StatusNotFound,
	CodeInvitationNotFound:   http.StatusNotFound,
	CodeUserNotFound:         http.StatusNotFound,
	CodeSessionNotFound:      http.StatusNotFound,
	CodeIdentityNotFound:     http.StatusNotFound,
	CodeCommentNotFound:      http.StatusNotFound,
	CodeMessageNotFound:      http.StatusNotFound,
	CodeWebhookNotFound:      http.StatusNotFound,
	CodeDeliveryNotFound:     http.StatusNotFound,
	CodeExportNotFound:       http.StatusNotFound,
	CodeDeploymentNotFound:   http.StatusNotFound,
	CodeSiteNotFound:         http.StatusNotFound,
	CodeSitesNotConfigured:   http.StatusNotImplemented,
	CodeMailNotConfigured:    http.StatusNotImplemented,
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

// Status returns the HTTP status of the code. It returns 500 for an unknown code.
func (c Code) Status() int {
	if status, ok := StatusOf[c]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// Error is an error that a client sees. Its JSON form is exactly {"error": Message, "code": Code}. Message is written
// for people. It never contains the cause, an internal name, or a value that the client sent. The cause
// appears only in the log.
type Error struct {
	Message string `json:"error" doc:"The error message, for people." example:"The session is missing or has ended."`
	Code    Code   `json:"code" doc:"The error code, for programs." example:"AUTH_INVALID_TOKEN"`

	headers http.Header
	cause   error
}

// New returns an error with a message that clients may see.
func New(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// WithCause returns a copy of the error with err as its cause. The cause is only logged.
func (e *Error) WithCause(err error) *Error {
	changed := *e
	changed.cause = err
	return &changed
}

// WithHeader returns a copy of the error whose response has one more header.
func (e *Error) WithHeader(key, value string) *Error {
	changed := *e
	changed.headers = e.headers.Clone()
	if changed.headers == nil {
		changed.headers = http.Header{}
	}
	changed.headers.Add(key, value)
	return &changed
}

// Error returns the text for the log, including the cause.
func (e *Error) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.cause)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is a fault with the same code.
func (e *Error) Is(target error) bool {
	other, ok := errors.AsType[*Error](target)
	return ok && other.Code == e.Code
}

// Headers returns the additional headers of the error's response.
func (e *Error) Headers() http.Header { return e.headers }

// retryAfter is the number of seconds after which a client may retry when the service is busy.
const retryAfter = "1"

// Errors that are not specific to one resource.
var (
	// ErrInternal hides an unexpected failure from the client.
	ErrInternal = New(CodeInternal, "Something went wrong on our side. Please try again.")
	// ErrUnavailable reports that storage or the key ring is unavailable.
	ErrUnavailable = New(CodeServiceUnavailable, "The service is busy. Please try again.").
			WithHeader("Retry-After", retryAfter)
	// ErrConflict reports that concurrent changes of the same resource conflicted.
	ErrConflict = New(CodeConflict, "The resource was changed by another request at the same time. Please try again.")
)
