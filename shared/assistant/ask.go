package assistant

import (
	"context"
	"errors"
	"time"

	"devplatform/shared/assistant/model"
)

// Why a generation is ended before the model has said all.
var (
	errCancelled = errors.New("assistant: cancelled by the user")
	errSilent    = errors.New("assistant: the model has gone silent")
	errTooLate   = errors.New("assistant: the answer takes too long")
	errStopped   = errors.New("assistant: the function's time is over")
)

// wasEnded reports whether it was us who ended a generation: the model has read what it was asked all the same.
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

// ask has the model answer a request, for as long as it says something and nobody cancels. Errors: as model.Provider's Generate, but
// in place of the context's one of the causes above.
func (s *Service) ask(ctx context.Context, r reservation, request model.Request, emit func(model.Part) error) (model.Outcome, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	silence := time.AfterFunc(s.limits.Silence, func() { end(errSilent) })
	defer silence.Stop()
	go s.watch(ctx, r, end)
	outcome, err := s.model.Generate(ctx, request, func(p model.Part) error {
		silence.Reset(s.limits.Silence)
		return emit(p)
	})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return outcome, cause //nolint:wrapcheck // one of ours
	}
	return outcome, err
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
