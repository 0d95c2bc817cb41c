package identity

import (
	"context"
	"net/http"

	"devplatform/shared/account/attempt"
	"devplatform/shared/account/password"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// Register adds the endpoints of identities, with the tag of accounts.
func (s *Service) Register(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Private(r, httpapi.Operation{
		ID: "listIdentities", Method: http.MethodGet, Path: "/api/auth/identities", Tag: tag,
		Summary:     "List the caller's identities at code hosts",
		Description: "Returns the users of code hosts who can sign in to the account, in the order in which they were linked.",
	}, s.handleListIdentities)
	httpapi.Private(r, httpapi.Operation{
		ID: "unlinkIdentity", Method: http.MethodDelete, Path: "/api/auth/identities/{id}", Tag: tag, SessionFirst: true,
		Summary: "Remove an identity from the caller's account",
		Description: "The identity can no longer sign in to the account. Sessions that it started do not end. If the " +
			"account has no password, its last identity cannot be removed. " + password.ReauthenticationRule,
		Errors: []*fault.Error{
			password.ExampleDenied, errNotFound, errLastIdentity, fault.ErrConflict,
			attempt.TooMany(attempt.ExampleStatus),
		},
	}, s.handleUnlinkIdentity)
}

type identitiesInput struct{ httpapi.PageInput }

type identitiesOutput struct {
	Body struct {
		Identities []Identity `json:"identities" nullable:"false" doc:"The identities, in the order in which they were linked"`
		NextCursor string     `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page" example:"eyJrIjoiazEifQ"`
	}
}

type unlinkInput struct {
	ID   string `path:"id" doc:"The ID of the identity" example:"idn_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Body *password.Reauthentication
}

// Validate implements httpapi's validation.
func (in *unlinkInput) Validate(v *httpapi.Validation) { in.Body.Validate(v) }

func (s *Service) handleListIdentities(
	ctx context.Context, caller httpapi.Caller, in *identitiesInput,
) (out *identitiesOutput, err error) {
	out = &identitiesOutput{}
	out.Body.Identities, out.Body.NextCursor, err = s.ListIdentities(ctx, caller, in.PageInput)
	return out, err
}

func (s *Service) handleUnlinkIdentity(
	ctx context.Context, caller httpapi.Caller, in *unlinkInput,
) (*httpapi.DoneOutput, error) {
	return httpapi.ReplyDone("Identity removed. Sessions that it started have not ended.",
		s.UnlinkIdentity(ctx, caller, in.ID, in.Body.GetPassword(), httpapi.RequestInfoFrom(ctx)))
}
