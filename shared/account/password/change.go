package password

import (
	"context"
	"errors"
	"net/http"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/user"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/mail"
)

func (s *Service) registerChange(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Private(r, httpapi.Operation{
		ID: "changePassword", Method: http.MethodPut, Path: "/api/auth/password", Tag: tag, SessionFirst: true,
		Summary: "Change the password",
		Description: "Ends all other sessions of the caller, and all links with the code host that have not finished. Linked " +
			"identities can still sign in: see GET /api/auth/identities. The request counts as a login attempt. If the " +
			"account has no password because it signs in with a code host, the response is the same as for a wrong " +
			"password.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("newPassword", Check("password", "", ""))),
			attempt.ExampleStatus.WithHeaders(errWrongCurrentPassword), attempt.ExampleStatus.WithHeaders(errPasswordChanged),
			attempt.TooMany(attempt.ExampleStatus),
		},
	}, s.changePassword)
}

type changePasswordInput struct {
	Body struct {
		CurrentPassword string `json:"currentPassword" format:"password" doc:"The current password; at most 1,024 bytes" example:"correct horse battery"`
		NewPassword     string `json:"newPassword" format:"password" doc:"8–128 characters after Unicode normalization (NFC); not one of the most common passwords, the e-mail address or the username" example:"staple staple staple"`
	}
}

// Validate implements httpapi's validation.
func (in *changePasswordInput) Validate(v *httpapi.Validation) {
	v.Field("currentPassword", checkLength(in.Body.CurrentPassword))
	v.Field("newPassword", Check(in.Body.NewPassword, v.Caller.Account().Email, v.Caller.Account().Username))
}

type changePasswordOutput struct {
	attempt.RateLimit
	Body httpapi.Done
}

// changePassword replaces the caller's password and ends all other sessions. It cancels a change of the address
// that is not confirmed yet, because a stolen session could have requested it. The attempt counts as a login attempt,
// so that a stolen session does not allow more guesses of the password than the login does. Errors: AUTH_RATE_LIMITED;
// AUTH_INVALID_CREDENTIALS if the current password is wrong or the account has none; CONFLICT if the password was
// changed at the same time.
//
// The transaction increments the generation of the user and of the caller's session. The other sessions keep the old
// generation and are therefore no longer accepted. DynamoDB's TTL deletes their items later.
func (s *Service) changePassword(
	ctx context.Context, caller httpapi.Caller, in *changePasswordInput,
) (*changePasswordOutput, error) {
	client := httpapi.RequestInfoFrom(ctx)
	c, err := s.checkPassword(ctx, caller.Account().Email, in.Body.CurrentPassword, client)
	if errors.Is(err, errWrongPassword) {
		return nil, c.Status().WithHeaders(errWrongCurrentPassword)
	}
	if err != nil {
		return nil, err
	}
	hash, err := s.Hasher.Hash(ctx, in.Body.NewPassword)
	if err != nil {
		return nil, err
	}
	u := user.User{ID: caller.UserID, Email: c.email, Username: caller.Account().Username}
	reported, err := s.Mails.Report(ctx, mail.PasswordChanged, u, client, nil)
	if err != nil {
		return nil, err
	}
	tx := s.DB.Tx(s.changeWrites(caller, c, hash)...)
	tx.Add(s.Activity.Add(caller.UserID, activity.PasswordChanged, client, activity.Detail{}))
	tx.Add(s.Tokens.EndAll(caller.UserID, mail.Change)...)
	tx.Add(c.Refunds()...)
	tx.Add(reported...)
	if err := tx.Commit(ctx); err != nil {
		if errors.Is(err, db.ErrStale) {
			err = c.Status().WithHeaders(errPasswordChanged.WithCause(err))
		}
		return nil, err
	}
	return &changePasswordOutput{
		RateLimit: attempt.Headers(c.RefundedStatus()),
		Body:      httpapi.Done{Success: true, Message: "Password changed. All other sessions have ended."},
	}, nil
}
