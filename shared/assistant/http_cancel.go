package assistant

import (
	"context"
	"errors"
	"net/http"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

type cancelInput struct {
	ID string `path:"id" doc:"The answer's id: the messageId of the stream's start" example:"msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

var answerStops = httpapi.Done{Success: true, Message: "The answer stops, unless it has ended."}

var errNoMessage = fault.New(fault.CodeMessageNotFound, "There is no such message that is being made for you.")

// registerCancel adds the call that stops an answer.
func (s *Service) registerCancel(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "cancelMessage", Method: http.MethodPost, Path: "/api/ai/messages/{id}/cancel", Tag: tag, Status: http.StatusAccepted,
		Summary:     "Stop an answer that is being made",
		Description: "For whoever it is made for. It stops within 2 s and is kept as interrupted; one that has ended within the last 24 hours stays as it is. Leaving the stream stops nothing.",
		Errors:      []*fault.Error{errNoMessage},
	}, s.handleCancel)
}

func (s *Service) handleCancel(ctx context.Context, caller httpapi.Caller, in *cancelInput) (*doneOutput, error) {
	err := s.store.cancel(ctx, caller.UserID, in.ID)
	if errors.Is(err, db.ErrNotFound) {
		return nil, errNoMessage.WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	return &doneOutput{answerStops}, nil
}
