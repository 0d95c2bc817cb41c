// Package takedown blocks the addresses of sites and projects, and ends such blocks. Only operators do this, so no
// function links the package.
//
// A blocked address shows a page with status 451. A blocked project has all its addresses blocked, and its users can
// neither deploy nor make a deployment live.
package takedown

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

// Store blocks addresses.
type Store struct {
	DB              *db.Client
	Projects, Sites db.Table
}

// ErrUnchanged reports that the address or the project is already blocked, or not blocked.
var ErrUnchanged = errors.New("nothing to change")

// Address reads the record of an address by its label. Error: db.ErrNotFound.
func (s Store) Address(ctx context.Context, label string) (site.Address, error) {
	item, err := s.Sites.Get(ctx, db.AddressKey(label))
	if err != nil {
		return site.Address{}, err
	}
	return db.Decode[site.Address](item)
}

// SetAddress blocks an address, or ends its block. more are further writes of the transaction. Errors: db.ErrNotFound,
// ErrUnchanged.
func (s Store) SetAddress(ctx context.Context, label string, blocked bool, more ...db.Write) error {
	return db.Retry(ctx, "block an address", func(ctx context.Context) error {
		a, err := s.Address(ctx, label)
		switch {
		case err != nil:
			return err
		case a.Blocked == blocked:
			return ErrUnchanged
		}
		tx := s.DB.Tx(s.setAddress(label, a.ProjectID, blocked))
		if a.Production && a.ReservedFor == "" {
			tx.Add(s.setProject(a.WorkspaceID, a.ProjectID, blocked))
		}
		tx.Add(more...)
		return tx.CommitOnce(ctx)
	})
}

// SetProject blocks all addresses of a project, or ends their blocks. more are further writes of the transaction.
// Errors: db.ErrNotFound if the project has never been deployed; ErrUnchanged.
func (s Store) SetProject(
	ctx context.Context, workspaceID, projectID string, blocked bool, more ...db.Write,
) error {
	return db.Retry(ctx, "block a project", func(ctx context.Context) error {
		item, err := s.Projects.Get(ctx, db.SiteKey(projectID))
		if errors.Is(err, db.ErrNotFound) {
			return fmt.Errorf("%w: the project has never been deployed", err)
		}
		if err != nil {
			return err
		}
		stored, err := db.Decode[deployment.Site](item)
		if err != nil {
			return err
		}
		if stored.Blocked == blocked {
			return ErrUnchanged
		}
		version := expression.Name("version")
		tx := s.DB.Tx(
			s.Projects.Update(db.SiteKey(projectID), mark("blocked", blocked).Set(version, expression.Value(stored.Version+1))).
				If(version.Equal(expression.Value(stored.Version))),
			s.setProject(workspaceID, projectID, blocked),
			s.setAddress(stored.Label, projectID, blocked),
		)
		for _, d := range stored.Deployments { // at most a few more than 20
			if d.Status == deployment.Ready {
				tx.Add(s.setAddress(d.Label, projectID, blocked))
			}
		}
		tx.Add(more...)
		return tx.CommitOnce(ctx)
	})
}

// setAddress returns the write of an address that belongs to a project.
func (s Store) setAddress(label, projectID string, blocked bool) db.Write {
	return s.Sites.Update(db.AddressKey(label), mark("blocked", blocked)).
		If(expression.Name("projectId").Equal(expression.Value(projectID)))
}

// setProject returns the write of the status of a project's site.
func (s Store) setProject(workspaceID, projectID string, blocked bool) db.Write {
	return s.Projects.Update(db.ProjectKey(workspaceID, projectID), mark("siteBlocked", blocked)).
		If(expression.Name("site").AttributeExists())
}

// mark returns the update that sets an attribute to true, or removes it.
func mark(attribute string, blocked bool) expression.UpdateBuilder {
	if blocked {
		return expression.Set(expression.Name(attribute), expression.Value(true))
	}
	return expression.Remove(expression.Name(attribute))
}

// Project finds the workspace of a project. Error: workspace.ErrProjectNotFound.
func (s Store) Project(ctx context.Context, projectID string) (workspaceID string, _ error) {
	a, err := (workspace.Access{Projects: s.Projects}).Locate(ctx, projectID)
	return a.WorkspaceID, err
}
