package address

import (
	"context"
	"net/http"

	"devplatform/shared/account/attempt"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/user"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/mail"
)

// Register adds the endpoints of addresses, with the tag of accounts.
func (s *Service) Register(r *httpapi.Routes, tag httpapi.Tag) {
	s.registerMe(r, tag)
	invalid := fault.Invalid(fault.Field("token", ruleClaim))
	httpapi.Public(r, httpapi.Operation{
		ID: "confirmEmail", Method: http.MethodPost, Path: "/api/auth/email/confirm", Tag: tag,
		Summary: "Confirm the e-mail address of an account",
		Description: "Uses the link or the code of the mail that a sign-up sends. A code needs a session. A repeated request " +
			"succeeds while the address is the same. With `reject`, the reader of the mail reports that the account is not " +
			"theirs: its sessions and mails end, and the address is free again. A confirmed address cannot be rejected.",
		Errors: []*fault.Error{
			invalid, mailtoken.ErrInvalid, httpapi.ErrNoSession, httpapi.ErrSuspended, attempt.TooMany(attempt.ExampleStatus),
		},
	}, s.handleConfirm)
	httpapi.Private(r, httpapi.Operation{
		ID: "resendEmail", Method: http.MethodPost, Path: "/api/auth/email/resend", Tag: tag, SessionFirst: true,
		Status: http.StatusAccepted, Summary: "Send the confirmation of the caller's address again",
		Description: "Sends the mail to `pendingEmail` if there is one, otherwise the mail to the address of the account. Sends " +
			"no mail if the address is confirmed.",
		Errors: []*fault.Error{mail.ErrNotConfigured, attempt.TooMany(attempt.ExampleStatus)},
	}, s.handleResend)
	httpapi.Private(r, httpapi.Operation{
		ID: "requestEmailChange", Method: http.MethodPut, Path: "/api/auth/email", Tag: tag, SessionFirst: true,
		Status: http.StatusAccepted, Summary: "Ask for another e-mail address",
		Description: "Sends a link and a code to the new address, and a notice to the old one. The address changes when the " +
			"mail is used. The response is the same if another account has the address: then its owner gets a mail. The " +
			"session must have started within the last 10 minutes.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("email", user.CheckEmail("ada"))), httpapi.ErrNotFresh, mail.ErrNotConfigured,
			attempt.TooMany(attempt.ExampleStatus),
		},
	}, s.handleRequest)
	httpapi.Public(r, httpapi.Operation{
		ID: "changeEmail", Method: http.MethodPost, Path: "/api/auth/email/change", Tag: tag,
		Summary: "Change the e-mail address of an account",
		Description: "Uses the link or the code of the mail to the new address. A code needs a session. All other links end, " +
			"except for the links that undo a change. The old address gets such a link if it was confirmed, and stays reserved " +
			"for the account for 7 days. With `reject`, the address does not change, and `pendingEmail` is removed.",
		Errors: []*fault.Error{
			invalid, mailtoken.ErrInvalid, errTaken, httpapi.ErrNoSession, httpapi.ErrSuspended,
			attempt.TooMany(attempt.ExampleStatus),
		},
	}, s.handleChange)
	httpapi.Public(r, httpapi.Operation{
		ID: "undoEmailChange", Method: http.MethodPost, Path: "/api/auth/email/undo", Tag: tag,
		Summary: "Undo a change of the e-mail address",
		Description: "Uses the link of the mail to the old address. Restores this address, ends all later changes with their " +
			"links, all sessions and all other mails, and removes the password and the identities that were linked since the " +
			"change. A mail to the address lets its reader choose a new password.",
		Errors: []*fault.Error{mailtoken.ErrInvalid, attempt.TooMany(attempt.ExampleStatus)},
	}, s.handleUndo)
}

// ruleClaim is the message for a request that has both a token and a code, or neither.
const ruleClaim = "is required, unless the request has a code: send either a token or a code"

// claimBody is the body of a request with a token or a code.
type claimBody struct {
	Token  string `json:"token,omitempty" maxLength:"128" doc:"The token of the link: the part after #token=" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJK5Zk0wXh1mQfU2yVb7cN4sT9eR3aLjKp6dGoI8uWvYxM"`
	Code   string `json:"code,omitempty" maxLength:"32" doc:"The code of the mail, instead of the token. Case and hyphens are ignored. Needs a session" example:"7K3M9PQR"`
	Reject bool   `json:"reject,omitempty" doc:"Whether the reader of the mail reports that the account is not theirs" example:"false"`
}

type claimInput struct{ Body claimBody }

// Validate implements httpapi's validation.
func (in *claimInput) Validate(v *httpapi.Validation) {
	if (in.Body.Token == "") == (in.Body.Code == "") {
		v.Field("token", ruleClaim)
	}
}

func (in *claimInput) claim() mailtoken.Claim {
	return mailtoken.Claim{Token: in.Body.Token, Code: in.Body.Code}
}

type requestInput struct {
	Body struct {
		Email string `json:"email" doc:"The new e-mail address" example:"ada@new.example.com"`
	}
}

// Validate implements httpapi's validation.
func (in *requestInput) Validate(v *httpapi.Validation) {
	v.Field("email", user.CheckEmail(in.Body.Email))
}

type undoInput struct {
	Body struct {
		Token string `json:"token" minLength:"1" maxLength:"128" doc:"The token of the link: the part after #token=" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJK5Zk0wXh1mQfU2yVb7cN4sT9eR3aLjKp6dGoI8uWvYxM"`
	}
}

func (s *Service) handleConfirm(ctx context.Context, in *claimInput) (*httpapi.DoneOutput, error) {
	message := "Address confirmed."
	if in.Body.Reject {
		message = "The account can no longer use this address."
	}
	return httpapi.ReplyDone(message, s.Confirm(ctx, in.claim(), in.Body.Reject, httpapi.RequestInfoFrom(ctx)))
}

func (s *Service) handleResend(ctx context.Context, caller httpapi.Caller, _ *struct{}) (*httpapi.DoneOutput, error) {
	return httpapi.ReplyDone("If the address is not confirmed yet, a mail is on its way.",
		s.Resend(ctx, caller, httpapi.RequestInfoFrom(ctx)))
}

func (s *Service) handleRequest(
	ctx context.Context, caller httpapi.Caller, in *requestInput,
) (*httpapi.DoneOutput, error) {
	return httpapi.ReplyDone("A mail to the new address is on its way. The address changes when it is confirmed.",
		s.Request(ctx, caller, in.Body.Email, httpapi.RequestInfoFrom(ctx)))
}

func (s *Service) handleChange(ctx context.Context, in *claimInput) (*httpapi.DoneOutput, error) {
	message := "Address changed."
	if in.Body.Reject {
		message = "The address was not changed."
	}
	return httpapi.ReplyDone(message, s.Change(ctx, in.claim(), in.Body.Reject, httpapi.RequestInfoFrom(ctx)))
}

func (s *Service) handleUndo(ctx context.Context, in *undoInput) (*httpapi.DoneOutput, error) {
	return httpapi.ReplyDone("The address was restored, and all sessions have ended. A mail to the address lets you choose a new password.",
		s.Undo(ctx, in.Body.Token, httpapi.RequestInfoFrom(ctx)))
}
