package signup

import (
	"context"
	"net/http"

	"devplatform/shared/account/attempt"
	"devplatform/shared/account/password"
	"devplatform/shared/account/user"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// Register adds the endpoint, with the tag of accounts.
func (s *Service) Register(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Public(r, httpapi.Operation{
		ID: "signup", Method: http.MethodPost, Path: "/api/auth/signup", Tag: tag, Status: http.StatusCreated,
		Summary: "Create an account",
		Description: "Also creates the personal workspace of the user, and sends a mail that confirms the address. Does not " +
			"start a session: log in next.",
		Errors: []*fault.Error{
			fault.Invalid(
				fault.Field("email", user.CheckEmail("ada")), fault.Field("password", password.Check("short", "", "")),
			),
			attempt.ExampleStatus.WithHeaders(errUserExists), attempt.TooMany(attempt.ExampleStatus),
		},
	}, s.handleSignup)
}

type signupInput struct {
	Body struct {
		Email    string `json:"email" doc:"An e-mail address of at most 254 characters, stored in lower case; unique" example:"ada@example.com"`
		Username string `json:"username" doc:"2–64 characters: A-Z, a-z, 0-9, '.', '-' and '_', starting with a letter or a digit; unique, ignoring case" example:"ada"`
		Password string `json:"password" format:"password" doc:"8–128 characters after Unicode normalization (NFC); not one of the most common passwords, the e-mail address or the username" example:"correct horse battery"`
	}
}

// Validate implements httpapi's validation.
func (in *signupInput) Validate(v *httpapi.Validation) {
	v.Field("email", user.CheckEmail(in.Body.Email))
	v.Field("username", user.CheckUsername(in.Body.Username))
	v.Field("password", password.Check(in.Body.Password, in.Body.Email, in.Body.Username))
}

type signupOutput struct {
	attempt.RateLimit
	Body struct {
		Success bool   `json:"success" doc:"Always true" example:"true"`
		UserID  string `json:"userId" doc:"The ID of the new user" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		Message string `json:"message" doc:"A message that describes the result" example:"Account created. You can log in now."`
	}
}

func (s *Service) handleSignup(ctx context.Context, in *signupInput) (*signupOutput, error) {
	userID, status, err := s.Signup(ctx, in.Body.Email, in.Body.Username, in.Body.Password, httpapi.RequestInfoFrom(ctx))
	if err != nil {
		return nil, err
	}
	out := &signupOutput{RateLimit: attempt.Headers(status)}
	out.Body.Success, out.Body.UserID, out.Body.Message = true, userID, "Account created. You can log in now."
	return out, nil
}
