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

// detach returns two contexts that do not end when the client disconnects: work, for all work of an answer, and
// generation, for its model calls. work ends after quota.Lease. generation ends when the answer takes too long, or
// timeToStore before the deadline of ctx.
func (s *Service) detach(ctx context.Context) (work, generation context.Context, cancel context.CancelFunc) {
	work, cancelWork := async.Detach(ctx, quota.Lease)
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline, _ = work.Deadline()
	}
	early, cancelEarly := context.WithDeadlineCause(work, deadline.Add(-timeToStore), errTooLate)
	generation, cancelGeneration := context.WithTimeoutCause(early, s.limits.Generation, errTooLate)
	return work, generation, func() { cancelGeneration(); cancelEarly(); cancelWork() }
}

// minWindow is less than the context window of every model, in tokens. If a provider reports fewer input tokens, the
// reason is not its window, but for example a cache, or a generator that reads only the last message.
const minWindow = 1000

// callModel sends a request to the model and adds the response to the answer a. It ends the generation if the user
// cancels it, or if the model sends nothing for too long. An answer that is too large is cut off, like an answer that
// reached the maximum number of tokens. If the provider does not report the usage, callModel estimates it, unless the
// provider failed before it sent anything.
// Errors: the errors of model.Provider.Generate; the error classes of db; if this package ended the generation, the
// reason for that.
func (s *Service) callModel(ctx context.Context, r quota.Reservation, request model.Request, a *answer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := async.AfterFunc(s.limits.Silence, func() { cancel(errSilent) })
	defer silence.Stop()
	async.Go(func() error { return s.watchForCancel(ctx, r) }, cancel)
	a.noteShown(request)
	received := 0
	outcome, err := s.model.Generate(ctx, request, func(p model.Part) error {
		silence.Reset(s.limits.Silence)
		received += len(p.Text)
		return a.add(ctx, p)
	})
	// Even if the generation was ended early, the model has read the request.
	if outcome.Usage.IsZero() && (err == nil || received > 0 || ctx.Err() != nil) {
		outcome.Usage = model.Usage{
			Input: prompt.Tokens(request), Output: (received + prompt.BytesPerToken - 1) / prompt.BytesPerToken,
		}
	}
	// Ollama removes the beginning of a request that exceeds its context window, and reports no error.
	if sent, read := prompt.Tokens(request), outcome.Usage.Input; read >= minWindow && read < sent/2 {
		s.logger.WarnContext(ctx, "the model read only a part of the request: its context window may be too small",
			"messageId", r.MessageID, "inputTokens", read, "sentTokens", sent)
	}
	a.addUsage(plausibleUsage(outcome.Usage, request, received))
	switch cause := context.Cause(ctx); {
	case err != nil && cause != nil:
		outcome.Stop, err = "", cause
	case errors.Is(err, errTooLarge):
		outcome.Stop, err = model.StopLength, nil
	case err != nil:
		outcome.Stop = ""
	}
	if !a.round.isRepair {
		a.stop, a.model = outcome.Stop, outcome.Model
	}
	return err
}

// plausibleUsage limits u, the usage that a provider reported, to possible values. A token has at least one byte. The
// output can include tokens that the provider does not send, such as thinking, but at most MaxOutput of them. received
// is the number of bytes that were received. Each limit also allows 4096 tokens for the format of the messages.
func plausibleUsage(u model.Usage, r model.Request, received int) model.Usage {
	const framing = 4096
	u.Input = min(max(u.Input, 0), prompt.BytesPerToken*prompt.Tokens(r)+framing)
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
