package deletion

import (
	"context"
	"errors"
	"net/http"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// Register adds the endpoint, with the tag of accounts.
func (s *Service) Register(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteAccount", Method: http.MethodDelete, Path: "/api/auth/me", Tag: tag, Status: http.StatusAccepted,
		SessionFirst: true, Summary: "Delete the caller's account",
		Description: "Ends the account and all its sessions, and deletes the workspaces that have no other member, with " +
			"everything in them. If the caller is the only owner of a workspace with other members, nothing is deleted. The " +
			"e-mail address is free at once, the username after 90 days. The data is removed within 24 hours. The caller " +
			"leaves the other workspaces, where the author of comments and deployments is then shown as `deleted`. The session " +
			"must have started within the last 10 minutes.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("confirm", ruleConfirm)), httpapi.ErrNotFresh, errShared("Team"),
		},
	}, s.deleteAccount)
}

type deleteInput struct {
	Body struct {
		Confirm string `json:"confirm" maxLength:"64" doc:"The username of the account" example:"ada"`
	}
}

type deleteOutput struct {
	SetCookie []string `header:"Set-Cookie" doc:"Clears the session cookie"`
	Body      httpapi.Done
}

// deleteAccount ends the account of the caller. Errors: AUTH_REAUTHENTICATION_REQUIRED, VALIDATION_FAILED,
// AUTH_INVALID_TOKEN, CONFLICT.
func (s *Service) deleteAccount(
	ctx context.Context, caller httpapi.Caller, in *deleteInput,
) (*deleteOutput, error) {
	switch {
	case !caller.IsFresh(s.Clock()):
		return nil, httpapi.ErrNotFresh
	case in.Body.Confirm != caller.Account().Username:
		return nil, fault.Invalid(fault.Field("confirm", ruleConfirm))
	}
	if err := s.Delete(ctx, caller.UserID); err != nil {
		if errors.Is(err, db.ErrNotFound) {
			err = httpapi.ErrNoSession.WithCause(err)
		}
		return nil, err
	}
	done := httpapi.Done{Success: true, Message: "Account deleted. Its data is removed within 24 hours."}
	return &deleteOutput{SetCookie: httpapi.ClearedCookies(ctx), Body: done}, nil
}
