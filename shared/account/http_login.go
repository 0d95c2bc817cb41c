package account

import (
	"context"
	"net/http"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

type loginInput struct {
	Body struct {
		Email    string `json:"email" doc:"The e-mail address of the account, ignoring case; at most 1,024 bytes" example:"ada@example.com"`
		Password string `json:"password" format:"password" doc:"The password of the account; at most 1,024 bytes" example:"correct horse battery"`
	}
}

// Validate implements httpapi's validation.
func (in *loginInput) Validate(v *httpapi.Validation) {
	v.Field("email", checkLoginField(in.Body.Email))
	v.Field("password", checkLoginField(in.Body.Password))
}

type loginOutput struct {
	RateLimit
	SetCookie []string `header:"Set-Cookie" doc:"The session cookie"`
	Body      struct {
		Success bool   `json:"success" doc:"Always true" example:"true"`
		UserID  string `json:"userId" doc:"The ID of the user" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	}
}

type logoutOutput struct {
	SetCookie []string `header:"Set-Cookie" doc:"Clears the session cookie"`
	Body      httpapi.Done
}

func (s *Service) registerLogin(r *httpapi.Routes) {
	httpapi.Public(r, httpapi.Operation{
		ID: "login", Method: http.MethodPost, Path: "/api/auth/login", Tag: tag,
		Summary:     "Start a session",
		Description: "While a rate limit is exceeded, a correct password is rejected too.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("password", "is required")),
			exampleStatus.WithHeaders(errWrongPassword), tooMany(exampleStatus),
		},
	}, s.handleLogin)
	httpapi.Public(r, httpapi.Operation{
		ID: "logout", Method: http.MethodPost, Path: "/api/auth/logout", Tag: tag,
		Summary:     "End the current session",
		Description: "Takes effect immediately. The request also succeeds if there is no session.",
	}, s.handleLogout)
}

func (s *Service) handleLogin(ctx context.Context, in *loginInput) (*loginOutput, error) {
	signedIn, status, err := s.Login(ctx, in.Body.Email, in.Body.Password, clientOf(ctx))
	if err != nil {
		return nil, err
	}
	out := &loginOutput{RateLimit: rateLimitOf(status)}
	out.SetCookie = httpapi.SessionCookies(ctx, signedIn.Token.Token, signedIn.Token.Expires)
	out.Body.Success, out.Body.UserID = true, signedIn.UserID
	return out, nil
}

func (s *Service) handleLogout(ctx context.Context, _ *struct{}) (*logoutOutput, error) {
	if token := httpapi.SessionToken(ctx); token != "" {
		if err := s.Logout(ctx, token); err != nil {
			return nil, err
		}
	}
	done := httpapi.Done{Success: true, Message: "Logged out."}
	return &logoutOutput{SetCookie: httpapi.ClearedCookies(ctx), Body: done}, nil
}
