package workspace

import (
	"context"
	"net/http"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

func (s *Service) registerWorkspaces(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "listWorkspaces", Method: http.MethodGet, Path: "/api/workspaces", Tag: tag,
		Summary:     "List the caller's workspaces",
		Description: "Returns the caller's workspaces with the caller's role, the personal workspace first.",
	}, s.listWorkspaces)
	httpapi.Private(r, httpapi.Operation{
		ID: "createWorkspace", Method: http.MethodPost, Path: "/api/workspaces", Tag: tag, Status: http.StatusCreated,
		SessionFirst: true,
		Summary:      "Create a workspace",
		Description:  "The caller becomes the owner of the workspace.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("name", CheckName(" "))), errCallerQuota(MaxMemberships), fault.ErrConflict,
		},
	}, s.createWorkspace)
	httpapi.Private(r, httpapi.Operation{
		ID: "readWorkspace", Method: http.MethodGet, Path: "/api/workspaces/{id}", Tag: tag,
		Summary: "Read a workspace", Description: "Returns the workspace with its numbers of members and projects.",
		Errors: []*fault.Error{ErrNotFound},
	}, s.readWorkspace)
	httpapi.Private(r, httpapi.Operation{
		ID: "updateWorkspace", Method: http.MethodPut, Path: "/api/workspaces/{id}", Tag: tag,
		Summary: "Rename a workspace", Description: "Admins and owners can rename a workspace. The new name is effective immediately.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("name", CheckName(" "))), ErrNotFound, ErrDenied, ErrReadOnly, fault.ErrConflict,
		},
	}, s.updateWorkspace)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteWorkspace", Method: http.MethodDelete, Path: "/api/workspaces/{id}", Tag: tag,
		Status: http.StatusAccepted, Summary: "Delete a workspace",
		Description: "Owners can delete a workspace with all its projects, sites and webhooks. It cannot be undone. " +
			"Immediately, nothing of the workspace can be read or changed, no event is delivered, no build goes live, and " +
			"its invitations end. Sites are offline within 60 seconds. The data is deleted within 24 hours. `confirm` must be " +
			"the name of the workspace. The session must have started within the last 10 minutes. A personal workspace " +
			"cannot be deleted. Emits no event.",
		Errors: []*fault.Error{
			errConfirm, ErrNotFound, ErrDenied, httpapi.ErrNotFresh, errDeletePersonal, fault.ErrConflict,
		},
	}, s.deleteWorkspace)
}

// WorkspaceItem is a workspace as clients see it.
type WorkspaceItem struct {
	ID        string          `json:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Name      string          `json:"name" doc:"The name of the workspace" example:"Team"`
	Role      Role            `json:"role" enum:"owner,admin,member,viewer" doc:"The caller's role in the workspace" example:"owner"`
	Personal  bool            `json:"personal" doc:"Whether this is the caller's personal workspace" example:"false"`
	CreatedAt clock.Timestamp `json:"createdAt" doc:"When the workspace was created" example:"2026-01-31T08:15:30.123Z"`
}

// WorkspaceDetails is a workspace with its numbers of members and projects.
type WorkspaceDetails struct {
	WorkspaceItem

	Members  int `json:"members" doc:"The number of members" example:"3"`
	Projects int `json:"projects" doc:"The number of projects, including private projects of other members" example:"12"`
}

type createWorkspaceInput struct {
	Body struct {
		Name string `json:"name" minLength:"1" maxLength:"100" doc:"1–100 characters, not blank, without control, invisible or direction-changing characters" example:"Team"`
	}
}

// Validate checks the rules that tags cannot express.
func (in *createWorkspaceInput) Validate(v *httpapi.Validation) {
	v.Field("name", CheckName(in.Body.Name))
}

type readWorkspaceInput struct {
	ID string `path:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

type updateWorkspaceInput struct {
	ID   string `path:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Body struct {
		Name *string `json:"name,omitempty" nullable:"false" minLength:"1" maxLength:"100" doc:"1–100 characters, not blank, without control, invisible or direction-changing characters. If absent, the name is not changed" example:"Design team"`
	}
}

// Validate checks the rules that tags cannot express.
func (in *updateWorkspaceInput) Validate(v *httpapi.Validation) {
	if in.Body.Name != nil {
		v.Field("name", CheckName(*in.Body.Name))
	}
}

type deleteWorkspaceInput struct {
	ID   string `path:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Body struct {
		Confirm string `json:"confirm" maxLength:"100" doc:"The name of the workspace, exactly" example:"Team"`
	}
}

type detailsOutput struct{ Body WorkspaceDetails }

func (d Details) output() *detailsOutput {
	return &detailsOutput{WorkspaceDetails{d.Membership.item(), d.Workspace.Members, d.Workspace.Projects}}
}

type workspaceOutput struct{ Body WorkspaceItem }

type workspacesInput struct{ httpapi.PageInput }

type workspacesOutput struct {
	Body struct {
		Workspaces []WorkspaceItem `json:"workspaces" nullable:"false" doc:"The workspaces: the caller's personal workspace first, then the others in the order in which they were created"`
		NextCursor string          `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page" example:"eyJrIjoiazEifQ"`
	}
}

func (m Membership) item() WorkspaceItem {
	return WorkspaceItem{ID: m.WorkspaceID, Name: m.Name, Role: m.Role, Personal: m.Personal, CreatedAt: m.CreatedAt}
}

// createWorkspace creates a workspace with the caller as its owner.
func (s *Service) createWorkspace(
	ctx context.Context, caller httpapi.Caller, in *createWorkspaceInput,
) (*workspaceOutput, error) {
	at := clock.Stamp(s.now())
	w := Workspace{ID: s.ids.New(id.Workspace), Name: in.Body.Name, Owners: 1, Members: 1, CreatedAt: at}
	owner := Membership{
		WorkspaceID: w.ID, UserID: caller.UserID, Username: caller.Account().Username, Role: Owner, AddedAt: at,
		Name: w.Name, CreatedAt: at,
	}
	tx := s.store.client.Tx(creationWrites(s.store.Projects, w, owner)...)
	tx.Add(s.store.countUp(owner.UserID))
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return &workspaceOutput{owner.item()}, nil
}

func (s *Service) readWorkspace(
	ctx context.Context, caller httpapi.Caller, in *readWorkspaceInput,
) (*detailsOutput, error) {
	d, err := s.store.read(ctx, caller.UserID, in.ID)
	if err != nil {
		return nil, err
	}
	return d.output(), nil
}

// updateWorkspace changes the name of a workspace. If there is no new name, it writes nothing.
func (s *Service) updateWorkspace(
	ctx context.Context, caller httpapi.Caller, in *updateWorkspaceInput,
) (*detailsOutput, error) {
	var d Details
	err := db.Retry(ctx, "rename a workspace", func(ctx context.Context) (err error) {
		if d, err = s.store.read(ctx, caller.UserID, in.ID); err != nil {
			return err
		}
		if err := d.Membership.Check(ManageMembers); err != nil {
			return err
		}
		name := in.Body.Name
		if name == nil || *name == d.Workspace.Name {
			return nil
		}
		d.Workspace.Name, d.Membership.Name = *name, *name
		return s.store.rename(ctx, d)
	})
	if err != nil {
		return nil, err
	}
	return d.output(), nil
}

// deleteWorkspace ends a workspace. From then on, nothing of it can be read, delivered or built. The removal, which
// runs in the background, deletes its data, and first its members, so that it no longer counts for their limits.
func (s *Service) deleteWorkspace(
	ctx context.Context, caller httpapi.Caller, in *deleteWorkspaceInput,
) (*httpapi.DoneOutput, error) {
	err := db.Retry(ctx, "delete a workspace", func(ctx context.Context) error {
		d, err := s.store.read(ctx, caller.UserID, in.ID)
		if err != nil {
			return err
		}
		now := s.now()
		switch {
		case d.Membership.Role != Owner:
			return ErrDenied
		case d.Workspace.Personal:
			return errDeletePersonal
		case !caller.IsFresh(now):
			return httpapi.ErrNotFresh
		case in.Body.Confirm != d.Workspace.Name:
			return errConfirm
		}
		return s.store.end(ctx, d, now)
	})
	return httpapi.ReplyDone("The workspace has been deleted. Its data will be removed within 24 hours.", err)
}

// listWorkspaces returns a page of the caller's workspaces, the personal workspace first.
func (s *Service) listWorkspaces(
	ctx context.Context, caller httpapi.Caller, in *workspacesInput,
) (*workspacesOutput, error) {
	scope := httpapi.ListScope(caller, "workspaces")
	after, err := s.cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	all, err := s.store.UserWorkspaces(ctx, caller.UserID)
	if err != nil {
		return nil, err
	}
	items := []WorkspaceItem{}
	for _, d := range all {
		if d.Membership.position() > after {
			items = append(items, d.Membership.item())
		}
	}
	out := &workspacesOutput{}
	out.Body.Workspaces, out.Body.NextCursor, err = httpapi.CutPage(ctx, s.cursors, scope, items, in.Limit,
		func(w WorkspaceItem) string { return listPosition(w.ID, w.Personal) })
	return out, err
}
