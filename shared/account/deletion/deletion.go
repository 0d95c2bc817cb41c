// Package deletion ends accounts. One transaction ends an account and the workspaces that only its user had. From then
// on, nothing reads their data, and no login succeeds. The transaction also adds the removal of the account (package
// removal), in which the Remover of this package removes the rest. The transaction decides about workspaces only by
// their numbers of owners and members, and must not know what they contain.
package deletion

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/codehost"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/mail"
	"devplatform/shared/removal"
	"devplatform/shared/workspace"
)

// maxWrites is DynamoDB's limit of the writes of a transaction.
const maxWrites = 100

// Deps are the dependencies of a Service.
type Deps struct {
	DB       *db.Client
	Accounts db.Table
	Projects db.Table
	Users    user.Store
	Mails    mailtoken.Mails // Tokens may be nil
	Activity *activity.Log
	Clock    clock.Clock
}

// Service ends accounts. It is safe for concurrent use.
type Service struct{ Deps }

// New returns a Service. It makes no calls to storage.
func New(d Deps) *Service { return &Service{d} }

// errShared returns the error for a user who is the only owner of workspaces with other members.
func errShared(names ...string) *fault.Error {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = `"` + name + `"`
	}
	return fault.New(fault.CodeConflict, "You are the only owner of workspaces that have other members: "+
		strings.Join(quoted, ", ")+". First make another member an owner, remove the members, or delete the workspace.")
}

const errConfirm = "must be the username of the account"

// Delete ends the account of a user, as the user or an operator wants. more are further writes of the transaction.
// Errors: db.ErrNotFound if there is no such account, or if it has ended; CONFLICT if the user is the only owner of a
// workspace that has other members.
func (s *Service) Delete(ctx context.Context, userID string, more ...db.Write) error {
	client := httpapi.RequestInfoFrom(ctx) // zero if an operator deletes the account
	return db.Retry(ctx, "delete an account", func(ctx context.Context) error {
		u, err := s.Users.Read(ctx, userID)
		if err != nil {
			return err
		}
		now := s.Clock()
		tx := s.DB.Tx(s.Users.End(u, now)...)
		ended, err := s.endWorkspaces(ctx, userID)
		if err != nil {
			return err
		}
		reported, err := s.Mails.Report(ctx, mail.AccountDeleted, u, client, nil)
		if err != nil {
			return err
		}
		tx.Add(ended...)
		tx.Add(removal.Create(s.Projects, removal.Account, userID, now))
		tx.Add(s.Activity.Add(userID, activity.AccountDeleted, client, activity.Detail{}))
		tx.Add(reported...)
		tx.Add(more...)
		identities, err := codehost.Endings(ctx, s.Accounts, userID)
		if err != nil {
			return err
		}
		for len(identities) > maxWrites-tx.Len() { // they are not needed for anything else
			n := min(len(identities)-(maxWrites-tx.Len()), maxWrites)
			if err := s.DB.Tx(identities[:n]...).CommitOnce(ctx); err != nil {
				return fmt.Errorf("removing identities: %w", err)
			}
			identities = identities[n:]
		}
		tx.Add(identities...)
		return tx.CommitOnce(ctx)
	})
}

// endWorkspaces returns the writes that end the workspaces that only the user has, on the condition that the user has
// not become a member of another one. Error: CONFLICT.
func (s *Service) endWorkspaces(ctx context.Context, userID string) ([]db.Write, error) {
	access := workspace.Access{Projects: s.Projects}
	unchanged, err := access.MembershipsUnchanged(ctx, userID)
	if err != nil {
		return nil, err
	}
	all, err := access.UserWorkspaces(ctx, userID)
	if err != nil {
		return nil, err
	}
	writes := []db.Write{unchanged}
	var blocking []string
	for _, d := range all {
		switch isOnlyOwner := d.Membership.Role == workspace.Owner && d.Workspace.Owners == 1; {
		case !isOnlyOwner: // the removal leaves the workspace
		case d.Workspace.Members > 1:
			blocking = append(blocking, d.Workspace.Name)
		default:
			writes = append(writes, access.EndWrite(d.Workspace))
		}
	}
	if len(blocking) > 0 {
		return nil, errShared(blocking...)
	}
	return writes, nil
}

// Register adds the endpoint, with the tag of accounts.
func (s *Service) Register(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteAccount", Method: http.MethodDelete, Path: "/api/auth/me", Tag: tag, Status: http.StatusAccepted,
		SessionFirst: true, Summary: "Delete the caller's account",
		Description: "Ends the account and all its sessions, and deletes the workspaces that have no other member, with " +
			"everything in them. If the caller is the only owner of a workspace with other members, nothing is deleted. The " +
			"e-mail address is free at once, the username after 90 days. The data is removed within 24 hours. The caller " +
			"leaves the other workspaces, where the author of comments and deployments is then shown as `deleted`. The session " +
			"must have started within the last 10 minutes.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("confirm", errConfirm)), httpapi.ErrNotFresh, errShared("Team"),
		},
	}, s.deleteAccount)
}

type deleteInput struct {
	Body struct {
		Confirm string `json:"confirm" maxLength:"64" doc:"The username of the account" example:"ada"`
	}
}

type deleteOutput struct {
	SetCookie []string `header:"Set-Cookie" doc:"Clears the session cookie"`
	Body      httpapi.Done
}

// deleteAccount ends the account of the caller. Errors: AUTH_REAUTHENTICATION_REQUIRED, VALIDATION_FAILED,
// AUTH_INVALID_TOKEN, CONFLICT.
func (s *Service) deleteAccount(
	ctx context.Context, caller httpapi.Caller, in *deleteInput,
) (*deleteOutput, error) {
	switch {
	case !caller.IsFresh(s.Clock()):
		return nil, httpapi.ErrNotFresh
	case in.Body.Confirm != caller.Account().Username:
		return nil, fault.Invalid(fault.Field("confirm", errConfirm))
	}
	if err := s.Delete(ctx, caller.UserID); err != nil {
		if errors.Is(err, db.ErrNotFound) {
			err = httpapi.ErrNoSession.WithCause(err)
		}
		return nil, err
	}
	done := httpapi.Done{Success: true, Message: "Account deleted. Its data is removed within 24 hours."}
	return &deleteOutput{SetCookie: httpapi.ClearedCookies(ctx), Body: done}, nil
}
