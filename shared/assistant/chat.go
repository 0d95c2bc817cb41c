package assistant

import (
	"context"
	"errors"

	"devplatform/shared/assistant/quota"
	"devplatform/shared/assistant/uistream"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
)

// Chat answers a question, writes the answer to stream while it is generated, and stores the question and the answer.
// stream may be nil. If the client disconnects, Chat continues. If the answer is cut off, Chat stores the part that was
// generated.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, RATE_LIMITED, QUOTA_EXCEEDED, AI_UNAVAILABLE, AI_REFUSED, VALIDATION_FAILED
// if the prompt exceeds the model's context window; the error classes of db.
func (s *Service) Chat(ctx context.Context, caller httpapi.Caller, q Question, stream *uistream.Writer) (Reply, error) {
	ctx, generation, cancel := s.detach(ctx)
	defer cancel()
	t := &turn{Service: s, caller: caller, question: q}
	if err := t.open(ctx); err != nil {
		return Reply{}, err
	}
	if err := t.reserve(ctx); err != nil {
		return Reply{}, err
	}
	defer s.quota.ReportGlobalUsage(ctx)
	t.startSummary(generation)
	t.generate(generation, stream)
	t.repair(generation)
	t.finish(ctx)
	isEmpty := t.answer.isBlank() && len(t.answer.draft.Actions()) == 0
	if isEmpty && t.cause != nil && !isInterruption(t.cause) { // the model failed, and there is nothing to store
		return Reply{}, errors.Join(clientError(t.cause, errMessageTooLong), t.quota.Settle(ctx, t.settlement()))
	}
	if err := t.store(ctx); err != nil {
		return Reply{}, err
	}
	if t.cause != nil && !errors.Is(t.cause, quota.ErrCancelled) {
		return Reply{}, clientError(t.cause, errMessageTooLong)
	}
	t.apply(ctx)
	return t.reply(), nil
}

// CancelMessage requests the cancellation of an answer to a question of the caller. An answer that has already ended is
// not changed.
// Errors: MESSAGE_NOT_FOUND; the error classes of db.
func (s *Service) CancelMessage(ctx context.Context, caller httpapi.Caller, messageID string) error {
	err := s.quota.Cancel(ctx, caller.UserID, messageID)
	if errors.Is(err, db.ErrNotFound) {
		return errMessageNotFound.WithCause(err)
	}
	return err
}
