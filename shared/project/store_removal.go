package project

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// Remover removes the projects of workspaces that have ended. It is safe for concurrent use.
type Remover struct {
	DB       *db.Client
	Projects db.Table
	// RemoveSite returns the writes that remove the site of a project. site is its record as it was read, or nil.
	RemoveSite func(workspaceID, projectID string, site db.Item, now time.Time) ([]db.Write, error)
	// Clean deletes the stored data of a project whose tree does not exist.
	Clean func(ctx context.Context, projectID string) error
	Clock clock.Clock
}

// parallelProjects is the number of projects that are removed at the same time.
const parallelProjects = 4

// Remove removes all projects of a workspace. Errors: the errors of storage; the errors of Clean.
func (r Remover) Remove(ctx context.Context, workspaceID string) error {
	for page, err := range r.Projects.Pages(ctx, db.Query{Prefix: db.ProjectsOf(workspaceID), KeysOnly: true}) {
		if err != nil {
			return err
		}
		var group async.Group // an error does not end the removal of the other projects
		group.SetLimit(parallelProjects)
		for _, item := range page.Items {
			projectID := db.ProjectsOf(workspaceID).Rest(db.KeyOf(item))
			group.Go(func() error { return r.remove(ctx, workspaceID, projectID) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// remove removes a project. First, it deletes the tree, so that all transactions of the project fail from then on. It
// deletes the record last, so that the next removal finds a project whose removal was interrupted.
func (r Remover) remove(ctx context.Context, workspaceID, projectID string) error {
	err := db.Retry(ctx, "remove a project", func(ctx context.Context) error {
		tree, siteKey := db.TreeKey(projectID), db.SiteKey(projectID)
		items, err := r.Projects.BatchGet(ctx, tree, siteKey)
		if err != nil || items[tree] == nil {
			return err
		}
		writes, err := r.RemoveSite(workspaceID, projectID, items[siteKey], r.Clock())
		if err != nil {
			return err
		}
		tx := r.DB.Tx(r.Projects.Delete(tree).If(r.Projects.Exists()).Else(workspace.ErrProjectNotFound))
		tx.Add(writes...)
		return tx.CommitOnce(ctx)
	})
	if err != nil && !errors.Is(err, workspace.ErrProjectNotFound) {
		return err
	}
	if err := r.Clean(ctx, projectID); err != nil {
		return err
	}
	_, err = r.DB.Do(ctx, r.Projects.Delete(db.ProjectKey(workspaceID, projectID)))
	return err
}

// ForgetAuthor replaces the name of a user whose account has ended in the comments in a workspace. Errors: the errors
// of storage.
func (r Remover) ForgetAuthor(ctx context.Context, workspaceID, userID string) error {
	projects := db.ProjectsOf(workspaceID)
	author, isAuthor := expression.Name("author"), expression.Name("authorId").Equal(expression.Value(userID))
	forget := func(item db.Item) error {
		c, ok := db.DecodeListed(ctx, item, decodeComment)
		if !ok || c.AuthorID != userID || c.Author == workspace.DeletedUser {
			return nil
		}
		update := expression.Set(author, expression.Value(workspace.DeletedUser))
		_, err := r.DB.Do(ctx, r.Projects.Update(db.KeyOf(item), update).If(isAuthor))
		if errors.Is(err, db.ErrConditionFailed) {
			return nil // the comment was deleted
		}
		return err
	}
	return r.Projects.Each(ctx, projects, func(item db.Item) error {
		return r.Projects.Each(ctx, db.CommentsOf(projects.Rest(db.KeyOf(item))), forget, "id", "authorId", "author")
	}, "id")
}
