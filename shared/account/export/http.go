package export

import (
	"context"
	"net/http"
	"time"

	"devplatform/shared/archive"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/limit"
)

// Register adds the endpoints, with the tag of accounts.
func (s *Service) Register(r *httpapi.Routes, tag httpapi.Tag) {
	const path = "/api/auth/export"
	httpapi.Private(r, httpapi.Operation{
		ID: "startAccountExport", Method: http.MethodPost, Path: path, Tag: tag, Status: http.StatusAccepted,
		SessionFirst: true, Summary: "Start an export of everything that is stored about the caller",
		Description: "Read the export until its status is ready, and download the JSON document from its URL. It has the " +
			"account, identities, sessions, activity, workspaces, invitations, projects, comments, deployments, webhooks and " +
			"questions of the user, without secrets and without the files of projects. 3 exports in one day (UTC). The session " +
			"must have started within the last 10 minutes.",
		Errors: []*fault.Error{httpapi.ErrNotFresh, limit.ErrTooMany},
	}, s.startAccountExport)
	httpapi.Private(r, httpapi.Operation{
		ID: "readAccountExport", Method: http.MethodGet, Path: path + "/{id}", Tag: tag,
		Summary:     "Read the state of an export of the caller's account",
		Description: "If the status is ready, the response has a new URL. An export can be downloaded for about a day.",
		Errors:      []*fault.Error{errNotFound},
	}, s.readAccountExport)
}

type startOutput struct{ Body archive.ExportRef }

// startAccountExport starts an export. Errors: AUTH_REAUTHENTICATION_REQUIRED, AUTH_INVALID_TOKEN, RATE_LIMITED.
func (s *Service) startAccountExport(ctx context.Context, caller httpapi.Caller, _ *struct{}) (*startOutput, error) {
	now := s.Clock()
	if !caller.IsFresh(now) {
		return nil, httpapi.ErrNotFresh
	}
	r := archive.NewRecord(s.IDs.New(id.Export), now)
	j := job.New(Kind, caller.UserID, r.ID, caller.UserID, now)
	rule := limit.Rule{Name: "account-exports", Limit: dailyLimit, Window: 24 * time.Hour}
	err := s.DB.Tx(
		s.Users.Exists(caller.UserID).Else(httpapi.ErrNoSession), s.counters.Write(rule, caller.UserID),
		s.store.Put(caller.UserID, r, archive.Record{}), s.store.Jobs.Add(j),
	).Commit(ctx)
	if err != nil {
		return nil, err
	}
	j.Send(ctx, s.Send, s.Logger)
	return &startOutput{r.Ref()}, nil
}

type getInput struct {
	ID string `path:"id" doc:"The export's ID" example:"exp_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

type getOutput struct{ Body archive.ExportItem }

// readAccountExport returns an export of the caller, with the URL of its document if it is ready.
// Error: EXPORT_NOT_FOUND.
func (s *Service) readAccountExport(ctx context.Context, caller httpapi.Caller, in *getInput) (*getOutput, error) {
	key := db.AccountExportKey(caller.UserID, in.ID)
	items, err := s.Accounts.BatchGet(ctx, key)
	if err != nil {
		return nil, err
	}
	if items[key] == nil {
		return nil, errNotFound
	}
	r, err := db.Decode[archive.Record](items[key])
	if err != nil {
		return nil, err
	}
	item, err := r.Item(ctx, s.Bucket, filename, contentType, s.Clock())
	if err != nil {
		return nil, err
	}
	return &getOutput{item}, nil
}
