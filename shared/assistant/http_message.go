package assistant

import (
	"context"
	"errors"
	"net/http"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

func (s *Service) registerMessage(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "cancelMessage", Method: http.MethodPost, Path: "/api/ai/messages/{id}/cancel", Tag: tag,
		Status:  http.StatusAccepted,
		Summary: "Cancel an answer in progress",
		Description: "Only the user who asked can cancel an answer. The answer stops within 2 seconds and is stored " +
			"with the status interrupted. For an answer that ended within the last 24 hours, the request succeeds " +
			"and has no effect. Disconnecting from the stream does not cancel an answer.",
		Errors: []*fault.Error{errMessageNotFound},
	}, s.cancelMessage)
}

type cancelInput struct {
	ID string `path:"id" doc:"The answer's ID: the messageId of the stream's start event" example:"msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

func (s *Service) cancelMessage(
	ctx context.Context, caller httpapi.Caller, in *cancelInput,
) (*httpapi.DoneOutput, error) {
	err := s.quota.Cancel(ctx, caller.UserID, in.ID)
	if errors.Is(err, db.ErrNotFound) {
		err = errMessageNotFound.WithCause(err)
	}
	return httpapi.ReplyDone("Cancellation requested. An answer that has already finished is not changed.", err)
}
