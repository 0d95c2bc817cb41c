package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/account/user"
	"devplatform/shared/archive"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/job"
	"devplatform/shared/objectstore"
	"devplatform/shared/workspace"
)

// Tables are the tables that a document is made from.
type Tables struct{ Accounts, Projects, Webhooks, Conversations, Sites db.Table }

// WorkerDeps are the dependencies of a worker.
type WorkerDeps struct {
	DB     *db.Client
	Tables Tables
	Users  user.Store
	// Questions calls write with each question that a user asked the assistant about a project.
	Questions func(ctx context.Context, userID, projectID string, write func(any) error) error
	Bucket    objectstore.Bucket
	Clock     clock.Clock
	Logger    *slog.Logger
}

// NewKind returns the kind of the jobs that make the documents. It makes no calls to storage.
func NewKind(d WorkerDeps) job.Kind {
	w := archive.Worker{
		Store: newStore(d.DB, d.Tables.Accounts, d.Tables.Projects), Bucket: d.Bucket, Clock: d.Clock, Logger: d.Logger,
		Write: d.write,
	}
	return w.Kind(Kind)
}

// document is the document about a user while it is written.
type document struct {
	WorkerDeps
	user        user.User
	memberships []workspace.Membership
}

// section is a list of the document.
type section struct {
	name string
	// each calls write with each record of the list. It keeps at most one page of a query in memory.
	each func(ctx context.Context, write func(any) error) error
}

// write writes the document about the user of a job. Errors: archive.ErrGone; an error for which job.IsTransient is
// true. Any other error is permanent.
func (w WorkerDeps) write(ctx context.Context, j job.Job, to io.Writer) error {
	d := document{WorkerDeps: w}
	var err error
	if d.user, err = w.Users.Read(ctx, j.OwnerID); errors.Is(err, db.ErrNotFound) {
		return fmt.Errorf("%w: %w", archive.ErrGone, err)
	}
	if err != nil {
		return err
	}
	access := workspace.Access{Projects: w.Tables.Projects}
	if d.memberships, err = access.Memberships(ctx, d.user.ID); err != nil {
		return err
	}
	if d.memberships, err = access.Complete(ctx, d.memberships); err != nil {
		return err
	}
	buffered := bufio.NewWriter(to)
	if err := d.encode(ctx, jsontext.NewEncoder(buffered, jsontext.WithIndent("  "))); err != nil {
		return err
	}
	return buffered.Flush()
}

// encode writes an object with a list for each section.
func (d document) encode(ctx context.Context, e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, s := range d.sections() {
		if err := e.WriteToken(jsontext.String(s.name)); err != nil {
			return err
		}
		if err := e.WriteToken(jsontext.BeginArray); err != nil {
			return err
		}
		write := func(record any) error {
			return json.MarshalEncode(e, record, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
		}
		if err := s.each(ctx, write); err != nil {
			return fmt.Errorf("account export: %s: %w", s.name, err)
		}
		if err := e.WriteToken(jsontext.EndArray); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

// sections returns the lists of the document. The names of most fields are the names of the stored attributes.
func (d document) sections() []section { return append(d.ofAccount(), d.ofWork()...) }

// ofAccount returns the lists of the account: its addresses, identities, sessions, activity, mails and exports.
func (d document) ofAccount() []section {
	t, userID := d.Tables, d.user.ID
	return []section{
		{"account", d.account},
		{"addresses", list{
			table: t.Accounts, prefix: db.EmailPartition(d.user.Email), attributes: "noticedAt", by: "userId", key: "item",
		}.of(userID)},
		{"undeliverable", list{
			table: t.Accounts, prefix: db.Prefix(db.MailStateKey(d.user.Email)), attributes: "undeliverableSince triedAt",
		}.all},
		{"identities", list{
			table: t.Accounts, prefix: db.IdentitiesOf(userID), attributes: "id provider subject login linkedAt",
		}.all},
		{"sessions", list{
			table: t.Accounts, prefix: db.SessionsOf(userID), attributes: "id createdAt lastSeenAt userAgent ip",
		}.all},
		{"activity", list{
			table: t.Accounts, prefix: db.ActivityOf(userID), attributes: "id at type ip userAgent detail failures",
		}.all},
		{"mails", list{
			table: t.Accounts, prefix: db.MailTokensOf(userID), inner: "tokens", key: "kind",
			attributes: "email issuedAt expiresAt used",
		}.all},
		{"exports", list{
			table: t.Accounts, prefix: db.AccountExportsOf(userID), attributes: "id status startedAt size",
		}.all},
	}
}

// ofWork returns the lists of what the user does in workspaces.
func (d document) ofWork() []section {
	t, userID := d.Tables, d.user.ID
	return []section{
		{"workspaces", d.workspaces},
		{"invitationsToUser", list{
			table: t.Projects, prefix: db.InvitationsOf(userID), attributes: "id workspaceId",
		}.all},
		{"invitationsToAddress", list{
			table: t.Projects, prefix: db.AddressInvitationsOf(d.confirmedEmail()), attributes: "id workspaceId",
		}.all},
		{"invitationsByUser", d.inWorkspaces(func(workspaceID string) list {
			return list{
				table: t.Projects, prefix: db.Prefix(db.InvitationsKey(workspaceID)), inner: "list", by: "inviterId",
				attributes: "id email username role createdAt expiresAt",
			}
		})},
		{"projects", d.inWorkspaces(func(workspaceID string) list {
			return list{
				table: t.Projects, prefix: db.ProjectsOf(workspaceID), by: "createdBy", attributes: "id workspaceId name slug " +
					"description framework rootDir visibility createdAt updatedAt lastOpenedAt",
			}
		})},
		{"comments", d.inProjects(func(projectID string) list {
			return list{
				table: t.Projects, prefix: db.CommentsOf(projectID), by: "authorId", attributes: "id body path line createdAt",
			}
		})},
		{"deployments", d.inProjects(func(projectID string) list {
			return list{
				table: t.Projects, prefix: db.DeploymentsOf(projectID), by: "createdBy.ID",
				attributes: "id number target status message label createdAt",
			}
		})},
		{"webhooks", d.inWorkspaces(func(workspaceID string) list {
			return list{
				table: t.Webhooks, prefix: db.WebhooksOf(workspaceID), by: "createdBy", attributes: "id workspaceId projectId " +
					"url events description active disabledReason createdAt updatedAt",
			}
		})},
		{"questions", d.questions},
		{"assistantUsage", list{
			table: t.Conversations, prefix: db.UsageOf(userID), key: "month", attributes: "input output taken calls",
		}.all},
		{"traffic", list{table: t.Sites, prefix: db.TrafficOf(userID), key: "month", attributes: "bytes"}.all},
	}
}

// confirmedEmail returns the user's address if it is confirmed, otherwise "".
func (d document) confirmedEmail() string {
	if d.user.Verified {
		return d.user.Email
	}
	return ""
}

// account writes the record of the user.
func (d document) account(_ context.Context, write func(any) error) error {
	return write(map[string]any{
		"id": d.user.ID, "username": d.user.Username, "email": d.user.Email, "emailVerified": d.user.Verified,
		"pendingEmail": d.user.PendingEmail, "createdAt": d.user.CreatedAt,
	})
}

// workspaces writes the memberships of the user.
func (d document) workspaces(_ context.Context, write func(any) error) error {
	for _, m := range d.memberships {
		if err := write(map[string]any{
			"id": m.WorkspaceID, "name": m.Name, "personal": m.Personal, "role": m.Role, "addedAt": m.AddedAt,
			"createdAt": m.CreatedAt, "email": m.Email, "invitedEmail": m.InvitedEmail,
		}); err != nil {
			return err
		}
	}
	return nil
}

// questions writes the questions of the user to the assistant.
func (d document) questions(ctx context.Context, write func(any) error) error {
	return d.eachProject(ctx, func(projectID string) error {
		return d.Questions(ctx, d.user.ID, projectID, write)
	})
}

// inWorkspaces returns a function that calls write with each of the user's records in all workspaces.
func (d document) inWorkspaces(listIn func(workspaceID string) list) func(context.Context, func(any) error) error {
	return func(ctx context.Context, write func(any) error) error {
		for _, m := range d.memberships {
			if err := listIn(m.WorkspaceID).of(d.user.ID)(ctx, write); err != nil {
				return err
			}
		}
		return nil
	}
}

// inProjects returns a function that calls write with each of the user's records in all projects of all workspaces.
func (d document) inProjects(listIn func(projectID string) list) func(context.Context, func(any) error) error {
	return func(ctx context.Context, write func(any) error) error {
		return d.eachProject(ctx, func(projectID string) error {
			l := listIn(projectID)
			l.parent = projectID
			return l.of(d.user.ID)(ctx, write)
		})
	}
}

// eachProject calls use with the ID of each project of the workspaces of the user.
func (d document) eachProject(ctx context.Context, use func(projectID string) error) error {
	for _, m := range d.memberships {
		prefix := db.ProjectsOf(m.WorkspaceID)
		err := d.Tables.Projects.Each(ctx, prefix, func(item db.Item) error { return use(prefix.Rest(db.KeyOf(item))) }, "id")
		if err != nil {
			return err
		}
	}
	return nil
}
