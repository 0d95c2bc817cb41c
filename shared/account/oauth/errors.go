package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// The kinds of errors, for errors.Is.
var (
	// ErrNotConfigured reports that no provider is configured.
	ErrNotConfigured = errors.New("no code-hosting provider is configured")
	// ErrDenied reports that the user denied the authorization, or that the provider rejected the request for it.
	ErrDenied = errors.New("authorization was denied at the provider")
	// ErrRefused reports that the provider rejected the code, the client or the token.
	ErrRefused = errors.New("the provider rejected the request")
	// ErrUnavailable reports that the provider is down, timed out, throttled a request, or sent an invalid response.
	ErrUnavailable = errors.New("the provider is unavailable")
)

var (
	errNoSubject = errors.New("the user has no valid ID")
	errTooLarge  = errors.New("the response is larger than 128 KiB")
	errInvalid   = errors.New("the response is not valid")
	errNoSecret  = errors.New("the client secret could not be read")
)

// The values of Error.Step.
const (
	stepAuthorize = "authorize"
	stepToken     = "token"
	stepUser      = "user"
	stepEmails    = "emails"
)

// Error is a failed sign-in. Its text is safe to log: it contains no authorization code, token or secret, and no text
// from the provider except a checked error code.
type Error struct {
	Kind   error  // ErrDenied, ErrRefused or ErrUnavailable
	Step   string // "authorize", "token", "user" or "emails"
	Code   string // the OAuth error code of the provider, such as "invalid_grant"; may be empty
	Status int    // the HTTP status of the response; 0 if there was none
	cause  error
}

func unavailable(step string, status int, cause error) *Error {
	return &Error{Kind: ErrUnavailable, Step: step, Status: status, cause: cause}
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "oauth %s: %v", e.Step, e.Kind)
	if e.Code != "" {
		fmt.Fprintf(&b, ": %s", e.Code)
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.cause != nil {
		fmt.Fprintf(&b, ": %v", e.cause)
	}
	return b.String()
}

// Unwrap returns the kind and, if there is one, the cause, such as context.DeadlineExceeded.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.cause}
}

// transientCodes are the OAuth error codes that report a failure of the provider itself (RFC 6749 §4.1.2.1).
var transientCodes = map[string]bool{"server_error": true, "temporarily_unavailable": true}

// errorCode returns code, or "unknown" if it does not look like an error code. This keeps any other text of a provider
// or an attacker out of the log.
func errorCode(code string) string {
	const maxBytes, chars = 64, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
	if code == "" || len(code) > maxBytes || strings.TrimLeft(code, chars) != "" {
		return "unknown"
	}
	return code
}

// transportCause returns the reason why an HTTP request failed, without its URL.
func transportCause(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errTooLarge
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	for _, known := range []error{context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errInvalid
}
