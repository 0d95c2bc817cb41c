package triggers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/smithy-go"
)

// link logs once when a service or a function can't be reached, and once when it can be reached again.
type link struct {
	logger  *slog.Logger
	backoff func(failures int) time.Duration

	unavailableMessage string // logged at WARN with the error
	availableMessage   string // logged at INFO

	mu      sync.Mutex
	failing map[string]bool // users whose last attempt failed
	logged  map[string]bool // reasons that were logged since the first failure
}

func newLink(
	backoff func(int) time.Duration, logger *slog.Logger, unavailableMessage, availableMessage string,
) *link {
	return &link{
		logger: logger, backoff: backoff,
		unavailableMessage: unavailableMessage, availableMessage: availableMessage,
		failing: map[string]bool{}, logged: map[string]bool{},
	}
}

// persist calls try until it succeeds, ctx ends, or the error is final. If ctx ends during a call that succeeds,
// persist returns an error.
func (l *link) persist(
	ctx context.Context, user string, try func(context.Context) error, final func(error) bool,
) error {
	for failures := 1; ; failures++ {
		err := try(ctx)
		switch {
		case ctx.Err() != nil:
			l.forget(user, false)
			return fmt.Errorf("triggers: stopped: %w", ctx.Err())
		case err == nil || final(err):
			l.forget(user, err == nil)
			return err
		}
		l.failed(user, err)
		pause(ctx, l.backoff(failures))
	}
}

// failed records a failed attempt. It logs each reason once.
func (l *link) failed(user string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cause := reason(err); !l.logged[cause] {
		l.logged[cause] = true
		l.logger.Warn(l.unavailableMessage, "error", err)
	}
	l.failing[user] = true
}

// forget records that a user makes no more attempts. success reports whether the last attempt succeeded.
func (l *link) forget(user string, success bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.failing[user] {
		return
	}
	delete(l.failing, user)
	if len(l.failing) > 0 {
		return
	}
	clear(l.logged)
	if success {
		l.logger.Info(l.availableMessage)
	}
}

// never is the parameter final of attempts that are repeated until they succeed.
func never(error) bool { return false }

// reason returns the cause of an error without details that differ between requests: operations, ids, ports.
func reason(err error) string {
	var apiErr smithy.APIError
	if errors.As(err, &apiErr) {
		return apiErr.ErrorCode() + ": " + apiErr.ErrorMessage()
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err.Error()
}

// pause waits. It returns false if ctx ended before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
