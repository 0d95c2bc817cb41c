package password

import (
	"context"
	"net/http"

	"devplatform/shared/account/attempt"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// Register adds the endpoints of passwords, with the tag of accounts.
func (s *Service) Register(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Public(r, httpapi.Operation{
		ID: "login", Method: http.MethodPost, Path: "/api/auth/login", Tag: tag,
		Summary: "Start a session",
		Description: "While a rate limit is exceeded, a correct password is rejected too. AUTH_SUSPENDED is returned only " +
			"after a correct password.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("password", "is required")),
			attempt.ExampleStatus.WithHeaders(errWrongPassword), attempt.ExampleStatus.WithHeaders(httpapi.ErrSuspended),
			attempt.TooMany(attempt.ExampleStatus),
		},
	}, s.handleLogin)
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
	}, s.handleChangePassword)
}

type loginInput struct {
	Body struct {
		Email    string `json:"email" doc:"The e-mail address of the account, ignoring case; at most 1,024 bytes" example:"ada@example.com"`
		Password string `json:"password" format:"password" doc:"The password of the account; at most 1,024 bytes" example:"correct horse battery"`
	}
}

// Validate implements httpapi's validation.
func (in *loginInput) Validate(v *httpapi.Validation) {
	v.Field("email", checkLogin(in.Body.Email))
	v.Field("password", checkLogin(in.Body.Password))
}

type loginOutput struct {
	attempt.RateLimit
	SetCookie []string `header:"Set-Cookie" doc:"The session cookie"`
	Body      struct {
		Success bool   `json:"success" doc:"Always true" example:"true"`
		UserID  string `json:"userId" doc:"The ID of the user" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	}
}

type changePasswordInput struct {
	Body struct {
		CurrentPassword string `json:"currentPassword" format:"password" doc:"The current password; at most 1,024 bytes" example:"correct horse battery"`
		NewPassword     string `json:"newPassword" format:"password" doc:"8–128 characters after Unicode normalization (NFC); not one of the most common passwords, the e-mail address or the username" example:"staple staple staple"`
	}
}

// Validate implements httpapi's validation.
func (in *changePasswordInput) Validate(v *httpapi.Validation) {
	v.Field("currentPassword", checkLogin(in.Body.CurrentPassword))
	v.Field("newPassword", Check(in.Body.NewPassword, v.Caller.Account().Email, v.Caller.Account().Username))
}

type changePasswordOutput struct {
	attempt.RateLimit
	Body httpapi.Done
}

// ReauthenticationRule is the part of a description that states the rule of Service.Confirm.
const ReauthenticationRule = "The session must have started within the last 10 minutes. Otherwise, the body must contain " +
	"the password, which counts as a login attempt."

// Reauthentication is the optional body of a request that Service.Confirm checks. It may be nil.
type Reauthentication struct {
	Password string `json:"password,omitempty" format:"password" doc:"The password of the account; at most 1,024 bytes. It is not checked if the session started within the last 10 minutes" example:"correct horse battery"`
}

// Validate checks the length of the password.
func (b *Reauthentication) Validate(v *httpapi.Validation) {
	v.Field("password", checkLogin(b.GetPassword()))
}

// GetPassword returns the password, or "" if there is no body.
func (b *Reauthentication) GetPassword() string {
	if b == nil {
		return ""
	}
	return b.Password
}

func (s *Service) handleLogin(ctx context.Context, in *loginInput) (*loginOutput, error) {
	started, status, err := s.Login(ctx, in.Body.Email, in.Body.Password, httpapi.RequestInfoFrom(ctx))
	if err != nil {
		return nil, err
	}
	out := &loginOutput{RateLimit: attempt.Headers(status)}
	out.SetCookie = started.Cookies(ctx)
	out.Body.Success, out.Body.UserID = true, started.UserID
	return out, nil
}

func (s *Service) handleChangePassword(
	ctx context.Context, caller httpapi.Caller, in *changePasswordInput,
) (*changePasswordOutput, error) {
	client := httpapi.RequestInfoFrom(ctx)
	status, err := s.ChangePassword(ctx, caller, in.Body.CurrentPassword, in.Body.NewPassword, client)
	if err != nil {
		return nil, err
	}
	return &changePasswordOutput{
		RateLimit: attempt.Headers(status),
		Body:      httpapi.Done{Success: true, Message: "Password changed. All other sessions have ended."},
	}, nil
}
