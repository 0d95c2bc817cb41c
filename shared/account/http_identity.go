package account

import (
	"context"
	"net/http"

	"devplatform/shared/clock"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// reauthenticationRule is the part of a description that states the rule of Service.reauthenticate.
const reauthenticationRule = "The session must have started within the last 10 minutes. Otherwise, the body must contain " +
	"the password, which counts as a login attempt."

// reauthentication is the optional body of a request that needs reauthentication.
type reauthentication struct {
	Password string `json:"password,omitempty" format:"password" doc:"The password of the account; at most 1,024 bytes. It is not checked if the session started within the last 10 minutes" example:"correct horse battery"`
}

func (b *reauthentication) validate(v *httpapi.Validation) {
	v.Field("password", checkLoginField(b.password()))
}

// password returns the password, or "" if there is no body.
func (b *reauthentication) password() string {
	if b == nil {
		return ""
	}
	return b.Password
}

type identitiesInput struct{ httpapi.PageInput }

type identitiesOutput struct {
	Body struct {
		Identities []Identity `json:"identities" nullable:"false" doc:"The identities, in the order in which they were linked"`
		NextCursor string     `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page" example:"eyJrIjoiazEifQ"`
	}
}

// Identity is a user of a code host who can sign in to an account.
type Identity struct {
	ID       string          `json:"id" doc:"The ID of the identity" example:"idn_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Provider string          `json:"provider" doc:"The code host: github, gitlab or bitbucket for the public services, otherwise the kind and the location of the installation" example:"github"`
	Username string          `json:"username" doc:"The username at the code host when the identity was linked; can be empty" example:"ada"`
	LinkedAt clock.Timestamp `json:"linkedAt" doc:"When the identity was linked" example:"2026-01-31T08:15:30.123Z"`
}

type unlinkInput struct {
	ID   string `path:"id" doc:"The ID of the identity" example:"idn_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Body *reauthentication
}

// Validate implements httpapi's validation.
func (in *unlinkInput) Validate(v *httpapi.Validation) { in.Body.validate(v) }

func (s *Service) registerIdentities(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "listIdentities", Method: http.MethodGet, Path: "/api/auth/identities", Tag: tag,
		Summary:     "List the caller's identities at code hosts",
		Description: "Returns the users of code hosts who can sign in to the account, in the order in which they were linked.",
	}, s.handleIdentities)
	httpapi.Private(r, httpapi.Operation{
		ID: "unlinkIdentity", Method: http.MethodDelete, Path: "/api/auth/identities/{id}", Tag: tag, SessionFirst: true,
		Summary: "Remove an identity from the caller's account",
		Description: "The identity can no longer sign in to the account. Sessions that it started do not end. If the " +
			"account has no password, its last identity cannot be removed. " + reauthenticationRule,
		Errors: []*fault.Error{
			exampleStatus.WithHeaders(errReauthenticate), errNoIdentity, errLastIdentity, fault.ErrConflict,
			tooMany(exampleStatus),
		},
	}, s.handleUnlink)
}

func (s *Service) handleIdentities(
	ctx context.Context, caller httpapi.Caller, in *identitiesInput,
) (out *identitiesOutput, err error) {
	out = &identitiesOutput{}
	out.Body.Identities, out.Body.NextCursor, err = s.ListIdentities(ctx, caller, in.PageInput)
	return out, err
}

func (s *Service) handleUnlink(
	ctx context.Context, caller httpapi.Caller, in *unlinkInput,
) (*httpapi.DoneOutput, error) {
	if err := s.UnlinkIdentity(ctx, caller, in.ID, in.Body.password(), clientOf(ctx)); err != nil {
		return nil, err
	}
	done := httpapi.Done{Success: true, Message: "Identity removed. Sessions that it started have not ended."}
	return &httpapi.DoneOutput{Body: done}, nil
}
