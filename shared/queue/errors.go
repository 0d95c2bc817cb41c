package queue

import (
	"errors"
	"fmt"
)

// ErrUnavailable says: SQS throttles, is down or did not answer in time. A message may have been sent. Whatever is not of this
// class is a fault of this program (a missing queue, a body that SQS can't carry).
var ErrUnavailable = errors.New("queue: unavailable")

// SendError says which messages were not sent, as far as is known. It is an ErrUnavailable if any of them may be sent another time.
type SendError struct {
	// Failed are the reasons by the messages' index among those handed to Send.
	Failed map[int]error
	sent   int
}

// Error names one of the reasons: they are rarely different.
func (e *SendError) Error() string {
	return fmt.Sprintf("queue: %d of %d messages were not sent: %v", len(e.Failed), len(e.Failed)+e.sent, e.Unwrap()[0])
}

// Unwrap is the reasons, in the order of the messages.
func (e *SendError) Unwrap() []error {
	reasons := make([]error, 0, len(e.Failed))
	for i := range len(e.Failed) + e.sent {
		if err, ok := e.Failed[i]; ok {
			reasons = append(reasons, err)
		}
	}
	return reasons
}

// FailedAt is why the i-th message of those handed to Send was not sent, nil if it was, by the error that Send answered with.
func FailedAt(err error, i int) error {
	var failed *SendError
	if err == nil || !errors.As(err, &failed) {
		return err
	}
	return failed.Failed[i]
}
