package model

import (
	"fmt"
	"time"
)

// Fault is why a provider gave no complete answer.
type Fault string

// The faults.
const (
	// Unavailable: the provider is down, can't be reached, throttles, or broke off. Trying again later may help.
	Unavailable Fault = "unavailable"
	// Refused: the provider's own filter stopped the answer.
	Refused Fault = "refused"
	// TooLong: the request does not fit the model's window.
	TooLong Fault = "too long"
	// Misconfigured: the provider does not accept our key, model or request. Only the operator can help.
	Misconfigured Fault = "misconfigured"
)

// Error says why there is no complete answer. Its text is for the log: it may hold what the provider said, never a key.
type Error struct {
	Fault Fault
	// RetryAfter is how long the provider wants to be left alone; 0 if it did not say.
	RetryAfter time.Duration
	Cause      error
}

// Error is the text for the log.
func (e *Error) Error() string { return fmt.Sprintf("model: %s: %v", e.Fault, e.Cause) }

// Unwrap is what the provider's client said.
func (e *Error) Unwrap() error { return e.Cause }
