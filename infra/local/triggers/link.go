package triggers

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// link repeats attempts to reach a service until one succeeds.
type link struct {
	logger  *slog.Logger
	backoff func(failures int) time.Duration

	unavailableMessage string // logged at WARN with the error of the first attempt
	availableMessage   string // logged at INFO when an attempt succeeds after others failed
}

// persist calls try until it succeeds, ctx ends, or the error is final. If ctx ends during a call that succeeds,
// persist returns an error. final can be nil.
func (l *link) persist(ctx context.Context, try func(context.Context) error, final func(error) bool) error {
	for failures := 0; ; failures++ {
		err := try(ctx)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("triggers: stopped: %w", ctx.Err())
		case err == nil && failures > 0:
			l.logger.Info(l.availableMessage)
			return nil
		case err == nil || final != nil && final(err):
			return err
		case failures == 0:
			l.logger.Warn(l.unavailableMessage, "error", err)
		}
		pause(ctx, l.backoff(failures+1))
	}
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
