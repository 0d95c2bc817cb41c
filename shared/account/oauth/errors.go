package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// What can go wrong, for errors.Is.
var (
	// ErrNotConfigured: no provider is configured.
	ErrNotConfigured = errors.New("no code-hosting provider is configured")
	// ErrDenied: the user, or the provider on its own page, did not authorize.
	ErrDenied = errors.New("authorization was denied at the provider")
	// ErrRefused: the provider said no to the code, to this client or to its token.
	ErrRefused = errors.New("the provider refused")
	// ErrUnavailable: the provider is down, too slow, throttles, or gave an answer that makes no sense.
	ErrUnavailable = errors.New("the provider is unavailable")
)

var (
	errNoSubject = errors.New("the user has no usable id")
	errTooLarge  = errors.New("the answer is larger than 1 MiB")
	errGarbled   = errors.New("the answer is not what the protocol says")
	errNoSecret  = errors.New("the client secret could not be read")
)

// The steps of a sign-in, as Error.Step names them.
const (
	stepAuthorize = "authorize"
	stepToken     = "token"
	stepUser      = "user"
	stepEmails    = "emails"
)

// Error is a failed sign-in. Its text is for logs: it holds no code, token, secret or body, nothing that the provider wrote freely.
type Error struct {
	Kind   error  // ErrDenied, ErrRefused or ErrUnavailable
	Step   string // "authorize", "token", "user" or "emails"
	Code   string // the provider's OAuth error code, such as "invalid_grant"; may be empty
	Status int    // the provider's HTTP status, 0 where there was none
	cause  error
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

// Unwrap gives errors.Is the kind and, where there is one, the cause (a deadline, for instance).
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.cause}
}

// transientCodes are the OAuth errors that speak of the provider's own trouble (RFC 6749 §4.1.2.1).
var transientCodes = map[string]bool{"server_error": true, "temporarily_unavailable": true}

// errorCode returns code when it looks like one, so that nothing else of the provider's (or an attacker's) words gets into a log.
func errorCode(code string) string {
	const longest = 64
	ok := code != "" && len(code) <= longest && strings.IndexFunc(code, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
	}) < 0
	if !ok {
		return "unknown"
	}
	return code
}

// transportCause is what may be told of a failed HTTP exchange: the reason without the URL.
func transportCause(err error) error {
	if errors.Is(err, errTooLarge) {
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
	return errGarbled
}
