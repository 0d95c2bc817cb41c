package project

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// What a write may find changed since it was decided on.
var (
	errStale     = errors.New("project: changed meanwhile")
	errSlugTaken = errors.New("project: the slug is taken")
	errFull      = errors.New("project: the workspace is full")
)

var (
	attrProjects = expression.Name("projects")
	attrRevision = expression.Name("revision")
	attrOpened   = expression.Name("lastOpenedAt")
)

// memberships are a user's places in all their workspaces.
func (s store) memberships(ctx context.Context, userID string) ([]workspace.Membership, error) {
	items, err := s.projects.QueryAll(ctx, db.MembershipsOf(userID))
	if err != nil {
		return nil, err
	}
	return db.DecodeAll[workspace.Membership](items)
}

// membership is a user's place in one workspace. Error: db.ErrNotFound.
func (s store) membership(ctx context.Context, workspaceID, userID string) (workspace.Membership, error) {
	item, err := s.projects.Get(ctx, db.MemberKey(workspaceID, userID))
	if err != nil {
		return workspace.Membership{}, err
	}
	return db.Decode[workspace.Membership](item)
}

// listedAttributes are what a list shows of a project, and what it is filtered by. Descriptions, which can be long, are not.
var listedAttributes = []string{"id", "workspaceId", "name", "slug", "framework", "visibility", "createdBy", "lastOpenedAt"}

// projectsOf are all projects of a workspace, as far as lists show them. It is one query below 1 MB of records.
func (s store) projectsOf(ctx context.Context, workspaceID string) ([]projectRecord, error) {
	items, err := s.projects.QueryAll(ctx, db.ProjectsOf(workspaceID), listedAttributes...)
	if err != nil {
		return nil, err
	}
	return db.DecodeAll[projectRecord](items)
}

// createProject makes a project in a workspace that has room for it. Errors: db.ErrNotFound (the workspace), errFull,
// errSlugTaken.
func (s store) createProject(ctx context.Context, p projectRecord, room int, told db.Write) error {
	record, err := db.Encode(p)
	if err != nil {
		return err
	}
	tree, err := db.Encode(treeRecord{WorkspaceID: p.WorkspaceID})
	if err != nil {
		return err
	}
	slug, err := s.claim(p)
	if err != nil {
		return err
	}
	err = s.client.Transact(ctx,
		s.projects.Update(db.WorkspaceKey(p.WorkspaceID), expression.Set(attrProjects, attrProjects.Plus(expression.Value(1)))).
			If(s.projects.Exists()).If(attrProjects.LessThan(expression.Value(room))).WithOld(),
		slug,
		s.projects.Create(db.ProjectKey(p.WorkspaceID, p.ID), record),
		s.projects.Create(db.TreeKey(p.ID), tree),
		told,
	)
	switch {
	case err == nil:
		return nil
	case db.FailedAt(err, 0) && db.OldItem(err, 0) == nil:
		return db.ErrNotFound
	case db.FailedAt(err, 0):
		return errFull
	case db.FailedAt(err, 1):
		return errSlugTaken
	}
	return fmt.Errorf("creating a project: %w", err)
}

// claim is the write that makes a project's slug its own.
func (s store) claim(p projectRecord) (db.Write, error) {
	record, err := db.Encode(slugRecord{ProjectID: p.ID})
	return s.projects.Create(db.SlugKey(p.WorkspaceID, p.Slug), record), err
}

// slugsLike are the slugs of a workspace that a project with the plain slug base could meet.
func (s store) slugsLike(ctx context.Context, workspaceID, base string) (map[string]bool, error) {
	q := db.Query{Prefix: db.SlugsOf(workspaceID, base), KeysOnly: true}
	taken := map[string]bool{}
	for {
		page, err := s.projects.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			taken[base+q.Prefix.Rest(db.KeyOf(item))] = true
		}
		if page.Next.IsZero() {
			return taken, nil
		}
		q.After = page.Next
	}
}

// updateProject stores a project's new settings in place of those of its revision. Errors: db.ErrNotFound, errStale,
// errSlugTaken.
func (s store) updateProject(ctx context.Context, old, p projectRecord, told db.Write) error {
	set := expression.Set(expression.Name("name"), expression.Value(p.Name)).
		Set(expression.Name("slug"), expression.Value(p.Slug)).
		Set(expression.Name("description"), expression.Value(p.Description)).
		Set(expression.Name("framework"), expression.Value(p.Framework)).
		Set(expression.Name("visibility"), expression.Value(string(p.Visibility))).
		Set(expression.Name("updatedAt"), expression.Value(p.UpdatedAt.String())).
		Set(attrRevision, expression.Value(old.Revision+1))
	writes := []db.Write{
		s.projects.Update(db.ProjectKey(p.WorkspaceID, p.ID), set).If(s.isRevision(old.Revision)).WithOld(),
		s.projects.Check(db.TreeKey(p.ID), s.projects.Exists()),
		told,
	}
	if p.Slug != old.Slug {
		slug, err := s.claim(p)
		if err != nil {
			return err
		}
		writes = append(writes, slug, s.projects.Delete(db.SlugKey(p.WorkspaceID, old.Slug)))
	}
	err := s.client.Transact(ctx, writes...)
	if db.FailedAt(err, 3) && !db.FailedAt(err, 0) && !db.FailedAt(err, 1) {
		return errSlugTaken
	}
	return changed(err, "updating a project")
}

// deleteProject takes a project of a revision, its slug and what it is found by away. Errors: db.ErrNotFound, errStale.
func (s store) deleteProject(ctx context.Context, p projectRecord, told db.Write) error {
	return changed(s.client.Transact(ctx,
		s.projects.Delete(db.ProjectKey(p.WorkspaceID, p.ID)).If(s.isRevision(p.Revision)).WithOld(),
		s.projects.Delete(db.TreeKey(p.ID)).If(s.projects.Exists()),
		s.projects.Delete(db.SlugKey(p.WorkspaceID, p.Slug)),
		s.projects.Update(db.WorkspaceKey(p.WorkspaceID), expression.Set(attrProjects, attrProjects.Minus(expression.Value(1)))).
			If(s.projects.Exists()),
		told,
	), "deleting a project")
}

// isRevision is the condition that a project is there as it was read.
func (s store) isRevision(n int) expression.ConditionBuilder {
	return s.projects.Exists().And(attrRevision.Equal(expression.Value(n)))
}

// changed reads the outcome of a transaction that begins with the project's record, given back if it is not as it was, and what
// the project is found by.
func changed(err error, doing string) error {
	switch {
	case err == nil:
		return nil
	case db.FailedAt(err, 1), db.FailedAt(err, 0) && db.OldItem(err, 0) == nil:
		return db.ErrNotFound
	case db.FailedAt(err, 0):
		return errStale
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// noteOpened stores that a project was opened, unless somebody else did so meanwhile.
func (s store) noteOpened(ctx context.Context, p projectRecord, at time.Time) error {
	_, err := s.client.Do(ctx, s.projects.Update(db.ProjectKey(p.WorkspaceID, p.ID),
		expression.Set(attrOpened, expression.Value(clock.Stamp(at).String()))).
		If(s.projects.Exists()).If(attrOpened.Equal(expression.Value(p.LastOpenedAt.String()))))
	if errors.Is(err, db.ErrConditionFailed) {
		return errStale
	}
	return err
}
