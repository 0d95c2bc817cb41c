package project

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// store stores projects and their comments. Do not rename the attributes of its records: stored records use these
// names.
type store struct {
	workspace.Access
	client *db.Client
	events db.Table
	quota  int // maximum number of projects in a workspace
}

// slugRecord reserves a slug in a workspace.
type slugRecord struct {
	ProjectID string `dynamodbav:"projectId"`
}

var (
	attrProjects = expression.Name("projects")
	attrRevision = expression.Name("revision")
	attrOpened   = expression.Name("lastOpenedAt")
)

// listedAttributes are the attributes that lists need. Descriptions are omitted because they can be long.
var listedAttributes = []string{
	"id", "workspaceId", "name", "slug", "framework", "visibility", "createdBy", "lastOpenedAt", "site", "siteBlocked",
}

// projectsOf returns all projects of a workspace with their listedAttributes. It makes one call per MB of records.
func (s store) projectsOf(ctx context.Context, workspaceID string) ([]projectRecord, error) {
	items, err := s.Projects.QueryAll(ctx, db.ProjectsOf(workspaceID), listedAttributes...)
	if err != nil {
		return nil, err
	}
	return db.DecodeAll(ctx, items, db.DecodeByID(func(p projectRecord) string { return p.ID })), nil
}

// createProject creates a project. Call it within db.Retry. Errors: WORKSPACE_NOT_FOUND, QUOTA_EXCEEDED, errSlugTaken.
func (s store) createProject(ctx context.Context, p projectRecord, eventWrite db.Write) error {
	return s.client.Tx(
		s.countProjects(p.WorkspaceID, 1).
			If(attrProjects.LessThan(expression.Value(s.quota))).
			ElseFunc(func(stored db.Item) error {
				if stored == nil {
					return workspace.ErrNotFound
				}
				return errQuota(s.quota)
			}),
		s.claimSlug(p),
		s.Projects.Create(db.ProjectKey(p.WorkspaceID, p.ID), p),
		s.Projects.Create(db.TreeKey(p.ID), file.Tree{WorkspaceID: p.WorkspaceID}),
		eventWrite,
	).CommitOnce(ctx)
}

// countProjects returns the write that adds n to the workspace's number of projects. The write fails if the workspace
// does not exist.
func (s store) countProjects(workspaceID string, n int) db.Write {
	count := expression.Set(attrProjects, attrProjects.Plus(expression.Value(n)))
	return s.Projects.Update(db.WorkspaceKey(workspaceID), count).If(s.Projects.Exists())
}

// claimSlug returns the write that reserves a project's slug. Error: errSlugTaken.
func (s store) claimSlug(p projectRecord) db.Write {
	return s.Projects.Create(db.SlugKey(p.WorkspaceID, p.Slug), slugRecord{ProjectID: p.ID}).Else(errSlugTaken)
}

// slugsWithPrefix returns the slugs of a workspace that begin with base.
func (s store) slugsWithPrefix(ctx context.Context, workspaceID, base string) (map[string]bool, error) {
	prefix := db.SlugsOf(workspaceID, base)
	items, err := s.Projects.QueryAll(ctx, prefix)
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for _, item := range items {
		taken[base+prefix.Rest(db.KeyOf(item))] = true
	}
	return taken, nil
}

// updateProject stores new settings of a project. Call it within db.Retry.
// Errors: PROJECT_NOT_FOUND, db.ErrStale, errSlugTaken.
func (s store) updateProject(ctx context.Context, old, p projectRecord, eventWrite db.Write) error {
	set := expression.Set(expression.Name("name"), expression.Value(p.Name)).
		Set(expression.Name("slug"), expression.Value(p.Slug)).
		Set(expression.Name("description"), expression.Value(p.Description)).
		Set(expression.Name("framework"), expression.Value(p.Framework)).
		Set(expression.Name("rootDir"), expression.Value(p.RootDir)).
		Set(expression.Name("visibility"), expression.Value(string(p.Visibility))).
		Set(expression.Name("updatedAt"), expression.Value(p.UpdatedAt.String())).
		Set(attrRevision, expression.Value(p.Revision))
	tx := s.client.Tx(
		s.Projects.Update(db.ProjectKey(p.WorkspaceID, p.ID), set).If(s.isRevision(old.Revision)).
			ElseFunc(workspace.ChangeError),
		s.ProjectExists(p.ID),
		eventWrite,
	)
	if p.Slug != old.Slug {
		tx.Add(s.claimSlug(p), s.Projects.Delete(db.SlugKey(p.WorkspaceID, old.Slug)))
	}
	return tx.CommitOnce(ctx)
}

// deleteProject deletes a project with its slug and its tree, and makes more writes in the same transaction. Call it
// within db.Retry. Errors: PROJECT_NOT_FOUND; db.ErrStale, also if a condition of more fails.
func (s store) deleteProject(ctx context.Context, p projectRecord, more ...db.Write) error {
	tx := s.client.Tx(
		s.Projects.Delete(db.ProjectKey(p.WorkspaceID, p.ID)).If(s.isRevision(p.Revision)).ElseFunc(workspace.ChangeError),
		s.Projects.Delete(db.TreeKey(p.ID)).If(s.Projects.Exists()).Else(workspace.ErrProjectNotFound),
		s.Projects.Delete(db.SlugKey(p.WorkspaceID, p.Slug)),
		s.countProjects(p.WorkspaceID, -1),
	)
	tx.Add(more...)
	return tx.CommitOnce(ctx)
}

// isRevision returns the condition that a project still has revision n.
func (s store) isRevision(n int) expression.ConditionBuilder {
	return s.Projects.Exists().And(attrRevision.Equal(expression.Value(n)))
}

// updateLastOpened updates lastOpenedAt. Error: db.ErrConditionFailed if another request updated it first.
func (s store) updateLastOpened(ctx context.Context, p projectRecord, at time.Time) error {
	_, err := s.client.Do(ctx, s.Projects.Update(db.ProjectKey(p.WorkspaceID, p.ID),
		expression.Set(attrOpened, expression.Value(clock.Stamp(at).String()))).
		If(s.Projects.Exists()).If(attrOpened.Equal(expression.Value(p.LastOpenedAt.String()))))
	return err
}

// setVariables stores the variables of a project, and its new revision. v has the revision that follows the stored
// revision. Call it within db.Retry. Errors: PROJECT_NOT_FOUND; db.ErrStale if the project or its variables have
// changed.
func (s store) setVariables(ctx context.Context, old, p projectRecord, v variablesRecord, eventWrite db.Write) error {
	put := s.Projects.Create(db.VariablesKey(p.ID), v)
	if v.Revision > 1 {
		put = s.Projects.Put(db.VariablesKey(p.ID), v).If(attrRevision.Equal(expression.Value(v.Revision - 1)))
	}
	set := expression.Set(expression.Name("updatedAt"), expression.Value(p.UpdatedAt.String())).
		Set(attrRevision, expression.Value(p.Revision))
	return s.client.Tx(
		s.Projects.Update(db.ProjectKey(p.WorkspaceID, p.ID), set).If(s.isRevision(old.Revision)).
			ElseFunc(workspace.ChangeError),
		put, eventWrite,
	).CommitOnce(ctx)
}
