package assistant

import (
	"context"
	"errors"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
)

// Why a generation is ended before the model has said all.
var (
	errCancelled = errors.New("assistant: cancelled by the user")
	errSilent    = errors.New("assistant: the model has gone silent")
	errTooLate   = errors.New("assistant: the answer takes too long")
	errStopped   = errors.New("assistant: the function's time is over")
)

// wasEnded reports whether it was us who ended a generation.
func wasEnded(err error) bool {
	return errors.Is(err, errCancelled) || errors.Is(err, errSilent) || errors.Is(err, errTooLate) || errors.Is(err, errStopped)
}

// timeToStore is kept of the function's own time for what comes after a model has been listened to.
const timeToStore = 15 * time.Second

// generationTime bounds what models may take for one call, all of its rounds together.
func (s *Service) generationTime(ctx context.Context) (context.Context, context.CancelFunc) {
	bounded, cancel := context.WithTimeoutCause(ctx, s.limits.Generation, errTooLate)
	deadline, ok := ctx.Deadline()
	if !ok {
		return bounded, cancel
	}
	bounded, cancelToo := context.WithDeadlineCause(bounded, deadline.Add(-timeToStore), errStopped)
	return bounded, func() { cancelToo(); cancel() }
}

// ask has the model answer a request, for as long as it says something and nobody cancels. The outcome's usage is what counts: where the
// provider does not tell, it is estimated, unless the provider failed before it said anything. Errors: as model.Provider's Generate, but
// in place of the context's one of the causes above.
func (s *Service) ask(ctx context.Context, r reservation, request model.Request, emit func(model.Part) error) (model.Outcome, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	silence := time.AfterFunc(s.limits.Silence, func() { end(errSilent) })
	defer silence.Stop()
	go s.watch(ctx, r, end)
	said := 0
	outcome, err := s.model.Generate(ctx, request, func(p model.Part) error {
		silence.Reset(s.limits.Silence)
		said += len(p.Text)
		return emit(p)
	})
	if outcome.Usage.Zero() && (err == nil || said > 0 || ctx.Err() != nil) { // ended by us: the model has read it all the same
		outcome.Usage = model.Usage{Input: prompt.Tokens(request), Output: (said + 3) / 4}
	}
	outcome.Usage = plausible(outcome.Usage, request, said)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return outcome, cause //nolint:wrapcheck // one of ours
	}
	return outcome, err
}

// plausible is what a provider says that a request took, as far as it can be true: a token is a byte at least of what was sent and came, and
// what came unseen is no more than was asked for.
func plausible(u model.Usage, r model.Request, said int) model.Usage {
	const bytesPerToken, framing = 4, 4096
	u.Input = min(max(u.Input, 0), bytesPerToken*prompt.Tokens(r)+framing)
	u.Output = min(max(u.Output, 0), r.MaxOutput+said+framing)
	return u
}

// watch ends a generation once its user has cancelled it. A look that fails is made up for by the next one.
func (s *Service) watch(ctx context.Context, r reservation, end context.CancelCauseFunc) {
	look := time.NewTicker(s.limits.CancelPoll)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			if cancelled, err := s.isCancelled(ctx, r); err == nil && cancelled {
				end(errCancelled)
				return
			}
		}
	}
}
