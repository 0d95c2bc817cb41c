package address

import (
	"context"
	"net/http"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/mail"
)

func (s *Service) registerMe(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Private(r, httpapi.Operation{
		ID: "me", Method: http.MethodGet, Path: "/api/auth/me", Tag: tag, SessionFirst: true,
		Summary: "Read the caller's account", Description: "Returns the account to which the session belongs.",
	}, s.handleMe)
}

type meOutput struct {
	Body struct {
		ID        string          `json:"id" doc:"The ID of the user" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		Email     string          `json:"email" doc:"The e-mail address, in lower case. Empty if the owner of the address rejected the account" example:"ada@example.com"`
		Username  string          `json:"username" doc:"The username, as entered at sign-up" example:"ada"`
		CreatedAt clock.Timestamp `json:"createdAt" doc:"When the account was created" example:"2026-01-31T08:15:30.123Z"`

		EmailVerified          bool             `json:"emailVerified" doc:"Whether the address is confirmed" example:"true"`
		PendingEmail           *string          `json:"pendingEmail" doc:"The address to which the account changes when its mail is used; null if there is none" example:"ada@new.example.com"`
		MailUndeliverableSince *clock.Timestamp `json:"mailUndeliverableSince" nullable:"true" doc:"Since when mail to the address is rejected; null if it arrives" example:"2026-01-31T08:15:30.123Z"`
		Mail                   bool             `json:"mail" doc:"Whether the service sends mail" example:"true"`
	}
}

func (s *Service) handleMe(ctx context.Context, caller httpapi.Caller, _ *struct{}) (*meOutput, error) {
	out, account := &meOutput{}, caller.Account()
	out.Body.ID, out.Body.Email, out.Body.Username = caller.UserID, account.Email, account.Username
	out.Body.CreatedAt, out.Body.EmailVerified = clock.Stamp(account.CreatedAt), account.EmailVerified
	if account.PendingEmail != "" {
		out.Body.PendingEmail = &account.PendingEmail
	}
	if out.Body.Mail = s.Mails.Outbox.Enabled(); !out.Body.Mail || account.Email == "" {
		return out, nil
	}
	ref := s.Mails.Outbox.StateRef(account.Email)
	items, err := s.DB.BatchGet(ctx, ref)
	if err != nil {
		return nil, err
	}
	state, err := db.Decode[mail.AddressState](items[ref])
	out.Body.MailUndeliverableSince = state.UndeliverableSince
	return out, err
}
