package assistant

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
	"devplatform/shared/assistant/quota"
	"devplatform/shared/async"
)

// timeToStore is the time before the function's deadline that is reserved for storing the answer.
const timeToStore = 15 * time.Second

// detach returns two contexts that do not end when the client disconnects: one for all work of an answer, which ends with
// ctx's deadline, and one for its model calls, which ends when the answer takes too long, or timeToStore before the first
// one.
func (s *Service) detach(ctx context.Context) (work, generation context.Context, cancel context.CancelFunc) {
	limit := quota.Lease
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline))
	}
	work, cancelWork := async.Detach(ctx, limit)
	generation, cancelGeneration := context.WithTimeoutCause(work, min(s.limits.Generation, limit-timeToStore), errTooLate)
	return work, generation, func() { cancelGeneration(); cancelWork() }
}

// minWindow is less than the context window of every model. A provider that reports fewer input tokens has another
// reason than its window, such as a cache, or a generator that reads only the last message.
const minWindow = 1000

// plausibleUsage limits u, the usage that a provider reported, to possible values. A token has at least one byte. The
// output can include tokens that the provider does not send, such as thinking, but at most MaxOutput of them. received
// is the number of bytes that were received.
func plausibleUsage(u model.Usage, r model.Request, received int) model.Usage {
	const bytesPerToken, framing = 4, 4096
	u.Input = min(max(u.Input, 0), bytesPerToken*prompt.Tokens(r)+framing)
	u.Output = min(max(u.Output, 0), r.MaxOutput+received+framing)
	return u
}

// watchForCancel checks at each tick whether the user has cancelled the answer. If so, it returns quota.ErrCancelled.
// It returns nil when ctx ends. It ignores read errors, because it reads again at the next tick.
func (s *Service) watchForCancel(ctx context.Context, r quota.Reservation) error {
	ticker := time.NewTicker(s.limits.CancelPoll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if cancelled, err := s.quota.IsCancelled(ctx, r); err == nil && cancelled {
				return quota.ErrCancelled
			}
		}
	}
}

// logAnswer logs the outcome of an answer, but not its content. cause is the reason why the answer is not complete, nil
// if it is complete.
func (s *Service) logAnswer(ctx context.Context, r quota.Reservation, a *answer, cause error) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("userId", r.UserID), slog.String("messageId", r.MessageID),
		slog.String("model", a.model), slog.String("stop", string(a.stop)),
		slog.Int("inputTokens", a.usage.Input), slog.Int("outputTokens", a.usage.Output),
		slog.Float64("ms", float64(s.now().Sub(r.Began).Microseconds())/1000),
	}
	if cause != nil {
		attrs = append(attrs, slog.String("cause", cause.Error()))
		failure, isFailure := errors.AsType[*model.Error](cause)
		switch {
		case errors.Is(cause, quota.ErrCancelled), isFailure && failure.Fault == model.Refused: // normal
		case isFailure && failure.Fault == model.Misconfigured: // the operator must fix it
			level = slog.LevelError
		default:
			level = slog.LevelWarn
		}
	}
	s.logger.LogAttrs(ctx, level, "answer", attrs...)
}
