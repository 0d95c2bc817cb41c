package account

import (
	"context"
	"net/http"
	"time"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
)

type signupInput struct {
	Body struct {
		Email    string `json:"email" doc:"An e-mail address of at most 254 characters, stored in lower case; unique" example:"ada@example.com"`
		Username string `json:"username" doc:"2–64 characters: A-Z, a-z, 0-9, '.', '-' and '_', starting with a letter or a digit; unique, ignoring case" example:"ada"`
		Password string `json:"password" format:"password" doc:"8–128 characters after Unicode normalization (NFC); not one of the most common passwords, the e-mail address or the username" example:"correct horse battery"`
	}
}

// Validate implements httpapi's validation.
func (in *signupInput) Validate(v *httpapi.Validation) {
	v.Field("email", CheckEmail(in.Body.Email))
	v.Field("username", CheckUsername(in.Body.Username))
	v.Field("password", CheckPassword(in.Body.Password, in.Body.Email, in.Body.Username))
}

type signupOutput struct {
	RateLimit
	Body struct {
		Success bool   `json:"success" doc:"Always true" example:"true"`
		UserID  string `json:"userId" doc:"The ID of the new user" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		Message string `json:"message" doc:"A message that describes the result" example:"Account created. You can log in now."`
	}
}

// exampleStatus is the rate limit in the examples of the OpenAPI document.
var exampleStatus = limit.Status{Limit: 10, Reset: 14 * time.Minute}

func (s *Service) registerSignup(r *httpapi.Routes) {
	httpapi.Public(r, httpapi.Operation{
		ID: "signup", Method: http.MethodPost, Path: "/api/auth/signup", Tag: tag, Status: http.StatusCreated,
		Summary:     "Create an account",
		Description: "Also creates the personal workspace of the user. Does not start a session: log in next.",
		Errors: []*fault.Error{
			fault.Invalid(
				fault.Field("email", CheckEmail("ada")), fault.Field("password", CheckPassword("short", "", "")),
			),
			exampleStatus.WithHeaders(errUserExists), tooMany(exampleStatus),
		},
	}, s.handleSignup)
}

func (s *Service) handleSignup(ctx context.Context, in *signupInput) (*signupOutput, error) {
	userID, status, err := s.Signup(ctx, in.Body.Email, in.Body.Username, in.Body.Password, clientOf(ctx))
	if err != nil {
		return nil, err
	}
	out := &signupOutput{RateLimit: rateLimitOf(status)}
	out.Body.Success, out.Body.UserID, out.Body.Message = true, userID, "Account created. You can log in now."
	return out, nil
}
