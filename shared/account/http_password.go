package account

import (
	"context"
	"net/http"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

type changePasswordInput struct {
	Body struct {
		CurrentPassword string `json:"currentPassword" format:"password" doc:"The current password; at most 1,024 bytes" example:"correct horse battery"`
		NewPassword     string `json:"newPassword" format:"password" doc:"8–128 characters after Unicode normalization (NFC); not one of the most common passwords, the e-mail address or the username" example:"staple staple staple"`
	}
}

// Validate implements httpapi's validation.
func (in *changePasswordInput) Validate(v *httpapi.Validation) {
	v.Field("currentPassword", checkLoginField(in.Body.CurrentPassword))
	v.Field("newPassword", CheckPassword(in.Body.NewPassword, v.Caller.Account().Email, v.Caller.Account().Username))
}

type changePasswordOutput struct {
	RateLimit
	Body httpapi.Done
}

func (s *Service) registerPassword(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "changePassword", Method: http.MethodPut, Path: "/api/auth/password", Tag: tag, SessionFirst: true,
		Summary: "Change the password",
		Description: "Ends all other sessions of the caller, and all links with the code host that have not finished. Linked " +
			"identities can still sign in: see GET /api/auth/identities. The request counts as a login attempt. If the " +
			"account has no password because it signs in with a code host, the response is the same as for a wrong " +
			"password.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("newPassword", CheckPassword("password", "", ""))),
			exampleStatus.WithHeaders(errWrongCurrentPassword), exampleStatus.WithHeaders(errPasswordChanged),
			tooMany(exampleStatus),
		},
	}, s.handleChangePassword)
}

func (s *Service) handleChangePassword(
	ctx context.Context, caller httpapi.Caller, in *changePasswordInput,
) (*changePasswordOutput, error) {
	status, err := s.ChangePassword(ctx, caller, in.Body.CurrentPassword, in.Body.NewPassword, clientOf(ctx))
	if err != nil {
		return nil, err
	}
	return &changePasswordOutput{
		RateLimit: rateLimitOf(status),
		Body:      httpapi.Done{Success: true, Message: "Password changed. All other sessions have ended."},
	}, nil
}
