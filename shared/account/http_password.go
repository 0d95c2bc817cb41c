package account

import (
	"context"
	"net/http"
	"time"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// maxLoginEmailBytes bounds what a login looks up: an address that is no good is just "wrong".
const maxLoginEmailBytes = 1024

type signupInput struct {
	Body struct {
		Email    string `json:"email" doc:"A valid address of at most 254 characters; stored in lower case, unique" example:"ada@example.com"`
		Username string `json:"username" doc:"2–64 of A-Z a-z 0-9 . - _, starting with a letter or digit; unique, ignoring case" example:"ada"`
		Password string `json:"password" format:"password" doc:"8–128 characters; none of the most common passwords, nor the e-mail address or username" example:"correct horse battery"`
	}
}

// Validate checks the rules that tags cannot express.
func (in *signupInput) Validate(v *httpapi.Validation) {
	v.Field("email", CheckEmail(in.Body.Email))
	v.Field("username", CheckUsername(in.Body.Username))
	v.Field("password", CheckPassword(in.Body.Password, in.Body.Email, in.Body.Username))
}

type signupOutput struct {
	RateLimit
	Body struct {
		Success bool   `json:"success" doc:"Always true" example:"true"`
		UserID  string `json:"userId" doc:"The new user's id" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		Message string `json:"message" doc:"What happened, for people" example:"Account created. You can log in now."`
	}
}

type loginInput struct {
	Body struct {
		Email    string `json:"email" doc:"The address of the account, in any case; at most 1,024 bytes" example:"ada@example.com"`
		Password string `json:"password" format:"password" doc:"At most 1,024 bytes" example:"correct horse battery"`
	}
}

// Validate checks the length of the values. Any other value is only wrong.
func (in *loginInput) Validate(v *httpapi.Validation) {
	v.Field("email", tooLong(in.Body.Email, maxLoginEmailBytes))
	v.Field("password", tooLong(in.Body.Password, MaxLoginPasswordBytes))
}

func tooLong(s string, limit int) string {
	if len(s) > limit {
		return "must be at most 1,024 bytes long"
	}
	return ""
}

type loginOutput struct {
	RateLimit
	SetCookie []string `header:"Set-Cookie" doc:"The session"`
	Body      struct {
		Success bool   `json:"success" doc:"Always true" example:"true"`
		UserID  string `json:"userId" doc:"The user's id" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	}
}

type changePasswordInput struct {
	Body struct {
		CurrentPassword string `json:"currentPassword" format:"password" doc:"At most 1,024 bytes" example:"correct horse battery"`
		NewPassword     string `json:"newPassword" format:"password" doc:"As at sign-up" example:"staple staple staple"`
	}
}

// Validate checks the rules that tags cannot express.
func (in *changePasswordInput) Validate(v *httpapi.Validation) {
	v.Field("currentPassword", tooLong(in.Body.CurrentPassword, MaxLoginPasswordBytes))
	v.Field("newPassword", CheckPassword(in.Body.NewPassword, v.Caller.Email, v.Caller.Username))
}

type changePasswordOutput struct {
	RateLimit
	Body httpapi.Done
}

var passwordChanged = httpapi.Done{Success: true, Message: "Password changed. Every other session has ended."}

// shownStanding is where an attempt stands in the document's examples of errors.
var shownStanding = Standing{Limit: 10, Reset: 14 * time.Minute}

func (s *Service) registerPasswords(r *httpapi.Routes) {
	httpapi.Public(r, httpapi.Operation{
		ID: "signup", Method: http.MethodPost, Path: "/api/auth/signup", Tag: tag, Status: http.StatusCreated,
		Summary:     "Make an account",
		Description: "Makes a personal workspace, too. Signs nobody in.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("email", CheckEmail("ada")), fault.Field("password", CheckPassword("short", "", ""))),
			shownStanding.onto(errUserExists), shownStanding.refusal(),
		},
	}, s.handleSignup)
	httpapi.Public(r, httpapi.Operation{
		ID: "login", Method: http.MethodPost, Path: "/api/auth/login", Tag: tag,
		Summary:     "Start a session",
		Description: "While limited, the right password is refused, too.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("password", "is required")), shownStanding.onto(errWrongPassword), shownStanding.refusal(),
		},
	}, s.handleLogin)
	httpapi.Private(r, httpapi.Operation{
		ID: "changePassword", Method: http.MethodPut, Path: "/api/auth/password", Tag: tag,
		Summary:     "Change the password",
		Description: "Ends every other session. Counted as a login. An account without a password (it signs in with a code host) is answered as for a wrong one.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("newPassword", CheckPassword("password", "", ""))),
			shownStanding.onto(errWrongCurrent), shownStanding.onto(errPasswordMoved), shownStanding.refusal(),
		},
	}, s.handleChangePassword)
}

func (s *Service) handleSignup(ctx context.Context, in *signupInput) (*signupOutput, error) {
	userID, standing, err := s.SignUp(ctx, in.Body.Email, in.Body.Username, in.Body.Password, clientOf(ctx))
	if err != nil {
		return nil, err
	}
	out := &signupOutput{RateLimit: standing.headers()}
	out.Body.Success, out.Body.UserID, out.Body.Message = true, userID, "Account created. You can log in now."
	return out, nil
}

func (s *Service) handleLogin(ctx context.Context, in *loginInput) (*loginOutput, error) {
	signedIn, standing, err := s.Login(ctx, in.Body.Email, in.Body.Password, clientOf(ctx))
	if err != nil {
		return nil, err
	}
	out := &loginOutput{RateLimit: standing.headers()}
	out.SetCookie = httpapi.SessionCookies(ctx, signedIn.Token.Token, signedIn.Token.Expires)
	out.Body.Success, out.Body.UserID = true, signedIn.UserID
	return out, nil
}

func (s *Service) handleChangePassword(ctx context.Context, caller httpapi.Caller, in *changePasswordInput) (*changePasswordOutput, error) {
	standing, err := s.ChangePassword(ctx, caller, in.Body.CurrentPassword, in.Body.NewPassword, clientOf(ctx))
	if err != nil {
		return nil, err
	}
	return &changePasswordOutput{
		RateLimit: standing.headers(),
		Body:      passwordChanged,
	}, nil
}
