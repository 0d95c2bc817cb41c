package address

import (
	"context"
	"net/http"

	"devplatform/shared/account/attempt"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/password"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/mail"
)

// Register adds the endpoints, with the tag of accounts.
func (s *Service) Register(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Private(r, httpapi.Operation{
		ID: "me", Method: http.MethodGet, Path: "/api/auth/me", Tag: tag, SessionFirst: true,
		Summary: "Read the caller's account", Description: "Returns the account to which the session belongs.",
	}, s.me)
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
	}, s.confirmEmail)
	httpapi.Private(r, httpapi.Operation{
		ID: "resendEmail", Method: http.MethodPost, Path: "/api/auth/email/resend", Tag: tag, SessionFirst: true,
		Status: http.StatusAccepted, Summary: "Send the confirmation of the caller's address again",
		Description: "Sends the mail to `pendingEmail` if there is one, otherwise the mail to the address of the account. Sends " +
			"no mail if the address is confirmed.",
		Errors: []*fault.Error{mail.ErrNotConfigured, attempt.TooMany(attempt.ExampleStatus)},
	}, s.resendEmail)
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
	}, s.requestEmailChange)
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
	}, s.changeEmail)
	httpapi.Public(r, httpapi.Operation{
		ID: "undoEmailChange", Method: http.MethodPost, Path: "/api/auth/email/undo", Tag: tag,
		Summary: "Undo a change of the e-mail address",
		Description: "Uses the link of the mail to the old address. Restores this address, ends all later changes with their " +
			"links, all sessions and all other mails, and removes the password and the identities that were linked since the " +
			"change. A mail to the address lets its reader choose a new password.",
		Errors: []*fault.Error{mailtoken.ErrInvalid, attempt.TooMany(attempt.ExampleStatus)},
	}, s.undoEmailChange)
	s.registerReset(r, tag)
}

func (s *Service) registerReset(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Public(r, httpapi.Operation{
		ID: "forgotPassword", Method: http.MethodPost, Path: "/api/auth/password/forgot", Tag: tag,
		Status: http.StatusAccepted, Summary: "Send a mail to choose a new password",
		Description: "The response is the same whether or not an account has the address, and so are the limits.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("email", user.CheckEmail("ada"))), mail.ErrNotConfigured,
			attempt.TooMany(attempt.ExampleStatus),
		},
	}, s.forgotPassword)
	httpapi.Public(r, httpapi.Operation{
		ID: "resetPassword", Method: http.MethodPost, Path: "/api/auth/password/reset", Tag: tag,
		Summary: "Choose a new password with a mail",
		Description: "Uses the link of the mail, or its code with the address. Confirms the address, and ends all sessions, " +
			"links and codes, except for the links that undo a change of the address. If the address had never been " +
			"confirmed, the identities at code hosts are removed. It starts no session: log in next.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("password", password.Check("short", "", ""))), mailtoken.ErrInvalid,
			attempt.TooMany(attempt.ExampleStatus),
		},
	}, s.resetPassword)
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

type forgotInput struct {
	Body struct {
		Email string `json:"email" doc:"The e-mail address of the account, ignoring case" example:"ada@example.com"`
	}
}

// Validate implements httpapi's validation.
func (in *forgotInput) Validate(v *httpapi.Validation) {
	v.Field("email", user.CheckEmail(in.Body.Email))
}

type resetInput struct {
	Body struct {
		Token    string `json:"token,omitempty" maxLength:"128" doc:"The token of the link: the part after #token=" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJK5Zk0wXh1mQfU2yVb7cN4sT9eR3aLjKp6dGoI8uWvYxM"`
		Email    string `json:"email,omitempty" doc:"The e-mail address to which the mail was sent. Only with a code" example:"ada@example.com"`
		Code     string `json:"code,omitempty" maxLength:"32" doc:"The code of the mail, instead of the token. Case and hyphens are ignored" example:"7K3M9PQR"`
		Password string `json:"password" format:"password" doc:"8–128 characters after Unicode normalization (NFC); not one of the most common passwords, the e-mail address or the username" example:"staple staple staple"`
	}
}

// Validate implements httpapi's validation.
func (in *resetInput) Validate(v *httpapi.Validation) {
	body := in.Body
	v.Field("password", password.Check(body.Password, body.Email, ""))
	switch {
	case (body.Token == "") == (body.Code == ""):
		v.Field("token", "is required, unless the request has a code: send either a token, or an e-mail address and a code")
	case body.Token != "" && body.Email != "":
		v.Field("email", "is not allowed together with a token")
	case body.Code != "":
		v.Field("email", user.CheckEmail(body.Email))
	}
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

func (s *Service) me(ctx context.Context, caller httpapi.Caller, _ *struct{}) (*meOutput, error) {
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
