package recovery

import (
	"context"
	"net/http"

	"devplatform/shared/account/attempt"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/password"
	"devplatform/shared/account/user"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/mail"
)

// Register adds the endpoints, with the tag of accounts.
func (s *Service) Register(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Public(r, httpapi.Operation{
		ID: "forgotPassword", Method: http.MethodPost, Path: "/api/auth/password/forgot", Tag: tag,
		Status: http.StatusAccepted, Summary: "Send a mail to choose a new password",
		Description: "The response is the same whether or not an account has the address, and so are the limits.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("email", user.CheckEmail("ada"))), mail.ErrNotConfigured,
			attempt.TooMany(attempt.ExampleStatus),
		},
	}, s.handleForgot)
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
	}, s.handleReset)
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

func (s *Service) handleForgot(ctx context.Context, in *forgotInput) (*httpapi.DoneOutput, error) {
	return httpapi.ReplyDone("If an account has this address, a mail is on its way.",
		s.Forgot(ctx, in.Body.Email, httpapi.RequestInfoFrom(ctx)))
}

func (s *Service) handleReset(ctx context.Context, in *resetInput) (*httpapi.DoneOutput, error) {
	claim := Claim{Claim: mailtoken.Claim{Token: in.Body.Token, Code: in.Body.Code}, Email: in.Body.Email}
	return httpapi.ReplyDone("Password changed, and all sessions have ended. You can log in now.",
		s.Reset(ctx, claim, in.Body.Password, httpapi.RequestInfoFrom(ctx)))
}
