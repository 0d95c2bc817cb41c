package model

import (
	"fmt"
	"time"
)

// Fault is the reason why a provider did not return a complete answer.
type Fault string

// The faults.
const (
	// Unavailable: the provider is down, cannot be reached, throttles, or ended the response early. A later retry may
	// succeed.
	Unavailable Fault = "unavailable"
	// Refused: the model refused to answer, or the provider's filter stopped the answer.
	Refused Fault = "refused"
	// TooLong: the request exceeds the model's context window, or the request's MaxOutput exceeds the model's limit.
	TooLong Fault = "too long"
	// Misconfigured: the provider rejects the API key, the model or the request. Only the operator can fix this.
	Misconfigured Fault = "misconfigured"
)

// Error is returned if the provider did not return a complete answer. Its text is for the log. It may quote the
// provider, but does not contain an API key.
type Error struct {
	Fault Fault
	// RetryAfter is the wait that the provider requested; 0 if it did not request a wait.
	RetryAfter time.Duration
	Cause      error
}

// Error returns the text for the log.
func (e *Error) Error() string { return fmt.Sprintf("model: %s: %v", e.Fault, e.Cause) }

// Unwrap returns the error of the provider's client.
func (e *Error) Unwrap() error { return e.Cause }
