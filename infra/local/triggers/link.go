package triggers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"
)

// link is the way to something that may be away for a while: an endpoint, or a function. It tells so once, and when it
// is over.
type link struct {
	logger         *slog.Logger
	backoff        func(failures int) time.Duration
	broken, mended string // what is logged, at WARN with the error, and at INFO

	mu      sync.Mutex
	failing map[string]bool // users whose last attempt failed
	told    map[string]bool // reasons that were logged since the first of them did
}

func newLink(o *Options, logger *slog.Logger, broken, mended string) *link {
	return &link{logger: logger, backoff: o.Backoff, broken: broken, mended: mended, failing: map[string]bool{}, told: map[string]bool{}}
}

// persist tries something until it is done, ctx ends (also when it was done just then), or the error is a final one.
func (l *link) persist(ctx context.Context, user string, try func(context.Context) error, final func(error) bool) error {
	for failures := 1; ; failures++ {
		err := try(ctx)
		switch {
		case ctx.Err() != nil:
			l.recovered(user, false)
			return fmt.Errorf("triggers: stopped: %w", ctx.Err())
		case err == nil || final(err):
			l.recovered(user, err == nil)
			return err
		}
		var busy *types.LimitExceededException
		if !errors.As(err, &busy) { // which is there, and wants to be asked less often
			l.failed(user, err)
		}
		pause(ctx, l.backoff(failures))
	}
}

// failed is told of an attempt that failed. It logs that the way is broken, once for each reason there is.
func (l *link) failed(user string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if why := reason(err); !l.told[why] {
		l.told[why] = true
		l.logger.Warn(l.broken, "error", err)
	}
	l.failing[user] = true
}

// recovered is told that a user does not fail any more, and whether that is because it has succeeded.
func (l *link) recovered(user string, say bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.failing[user] {
		return
	}
	delete(l.failing, user)
	if len(l.failing) > 0 {
		return
	}
	clear(l.told)
	if say {
		l.logger.Info(l.mended)
	}
}

// never is the final of what is tried until it works.
func never(error) bool { return false }

// reason is what an error comes from, without what is another with each request: operations, ids, ports.
func reason(err error) string {
	var answer smithy.APIError
	if errors.As(err, &answer) {
		return answer.ErrorCode() + ": " + answer.ErrorMessage()
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err.Error()
}

// pause waits, and tells whether ctx let it.
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
