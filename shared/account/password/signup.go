package password

import (
	"context"
	"errors"
	"net/http"

	"devplatform/shared/account/attempt"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/mail"
)

func (s *Service) registerSignup(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Public(r, httpapi.Operation{
		ID: "signup", Method: http.MethodPost, Path: "/api/auth/signup", Tag: tag, Status: http.StatusCreated,
		Summary: "Create an account",
		Description: "Also creates the personal workspace of the user, and sends a mail that confirms the address. Does not " +
			"start a session: log in next.",
		Errors: []*fault.Error{
			fault.Invalid(
				fault.Field("email", user.CheckEmail("ada")), fault.Field("password", Check("short", "", "")),
			),
			attempt.ExampleStatus.WithHeaders(errUserExists), attempt.TooMany(attempt.ExampleStatus),
		},
	}, s.signup)
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
	v.Field("password", Check(in.Body.Password, in.Body.Email, in.Body.Username))
}

type signupOutput struct {
	attempt.RateLimit
	Body struct {
		Success bool   `json:"success" doc:"Always true" example:"true"`
		UserID  string `json:"userId" doc:"The ID of the new user" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		Message string `json:"message" doc:"A message that describes the result" example:"Account created. You can log in now."`
	}
}

// signup creates a user with a personal workspace, and sends a mail with which the user confirms the address. Errors:
// AUTH_RATE_LIMITED, AUTH_USER_EXISTS.
func (s *Service) signup(ctx context.Context, in *signupInput) (*signupOutput, error) {
	client := httpapi.RequestInfoFrom(ctx)
	counted, err := s.Limiter.CountSignup(ctx, client)
	if err != nil {
		return nil, err
	}
	hash, err := s.Hasher.Hash(ctx, in.Body.Password)
	if err != nil {
		return nil, err
	}
	u := user.User{
		ID: s.IDs.New(id.User), Email: user.NormalizeEmail(in.Body.Email), Username: in.Body.Username,
		CreatedAt: clock.Stamp(s.Clock()),
	}
	tx := s.DB.Tx(s.Users.Create(u, u.Credential(hash), s.IDs.New(id.Workspace))...)
	tx.Add(s.Limiter.Know(u.Email, u.ID, client))
	if s.Mails.Outbox.Enabled() {
		set := mailtoken.Set{UserID: u.ID, Kind: mail.Confirm}
		sent, err := s.Mails.Send(ctx, mailtoken.Link{Set: set, To: u.Email, User: u}, client)
		if err != nil {
			return nil, err
		}
		tx.Add(sent...)
	}
	if err := tx.Commit(ctx); err != nil {
		if errors.Is(err, user.ErrTaken) {
			err = counted.Status().WithHeaders(errUserExists.WithCause(err))
		}
		return nil, err
	}
	out := &signupOutput{RateLimit: attempt.Headers(counted.Status())}
	out.Body.Success, out.Body.UserID, out.Body.Message = true, u.ID, "Account created. You can log in now."
	return out, nil
}
