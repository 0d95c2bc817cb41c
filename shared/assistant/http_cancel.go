package assistant

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

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
func (s *Service) registerCancel(h huma.API) {
	httpapi.Register(h, httpapi.Operation{
		ID: "cancelMessage", Method: http.MethodPost, Path: "/api/ai/messages/{id}/cancel", Tag: tag, Session: true, Status: http.StatusAccepted,
		Summary:     "Stop an answer that is being made",
		Description: "For whoever it is made for. It stops within 2 s and is kept as interrupted; one that has ended within the last 24 hours stays as it is. Leaving the stream stops nothing.",
		Errors:      []*fault.Error{errNoMessage},
		Examples:    func() httpapi.Examples { return httpapi.Examples{Response: answerStops} },
	}, s.handleCancel)
}

func (s *Service) handleCancel(ctx context.Context, in *cancelInput) (*doneOutput, error) {
	err := s.store.cancel(ctx, httpapi.CallerFrom(ctx).UserID, in.ID)
	if errors.Is(err, db.ErrNotFound) {
		return nil, errNoMessage.WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	return &doneOutput{answerStops}, nil
}
