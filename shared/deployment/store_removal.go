package deployment

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/workspace"
)

// reserveLabel reserves the label of the site for the workspace, because the site gives it up. A record of the
// workspace lists the label, so that the removal of the workspace finds it. The label of a deleted project is reserved
// even if an operator has blocked the address. Error of the transaction: errBlocked if the project is not deleted and
// the address is blocked.
func (c *change) reserveLabel(isProjectDeleted bool) {
	expires := c.now.Add(reservedTime).Unix()
	reserve := c.store.Sites.Update(db.AddressKey(c.site.Label), set("deploymentId", "").
		Set(expression.Name("reservedFor"), expression.Value(c.WorkspaceID)).
		Set(expression.Name(db.AttrExpiresAt), expression.Value(expires))).
		If(equals("projectId", c.ProjectID))
	if !isProjectDeleted {
		reserve = reserve.If(expression.Not(hasBlock())).Else(errBlocked)
	}
	c.add(reserve, c.store.Projects.Put(db.LabelKey(c.WorkspaceID, c.site.Label), labelRecord{expires}))
}

// labelRecord is the record of a label that is reserved for a workspace, in the projects table under db.LabelKey. It
// expires with the reservation. The attribute names are part of the data format.
type labelRecord struct {
	ExpiresAt int64 `dynamodbav:"expiresAt"` // Unix time in seconds
}

// RemoveSite returns the writes that remove all addresses of a project and cancel its deployments that have not
// ended, as part of the transaction that deletes the project. The label of the site stays reserved for the workspace.
// deleted is the event of the deletion. item is the record of the site as it was read; nil if there is none. If the
// condition of a write fails, the site has changed since then: read it again. The records and the objects of the
// deployments are removed later.
func (s *Service) RemoveSite(deleted event.Change, item db.Item, now time.Time) ([]db.Write, error) {
	p := workspace.ProjectAccess{
		ProjectID: deleted.ProjectID, WorkspaceID: deleted.WorkspaceID, Name: deleted.Data.Project.Name,
	}
	return s.Store.removeSite(p, item, now, &deleted.Data.Actor)
}

// RemoveSite is like Service.RemoveSite, for a project of a workspace that has ended. It adds no events.
func (s Store) RemoveSite(workspaceID, projectID string, item db.Item, now time.Time) ([]db.Write, error) {
	return s.removeSite(workspace.ProjectAccess{ProjectID: projectID, WorkspaceID: workspaceID}, item, now, nil)
}

// removeSite returns the writes that remove the site of a project. It adds events only if actor is not nil.
func (s Store) removeSite(
	p workspace.ProjectAccess, item db.Item, now time.Time, actor *event.Actor,
) ([]db.Write, error) {
	if item == nil {
		isMissing := expression.AttributeNotExists(expression.Name(db.AttrPK))
		return []db.Write{s.Projects.Check(db.SiteKey(p.ProjectID), isMissing)}, nil
	}
	p.Items = map[db.Key]db.Item{db.SiteKey(p.ProjectID): item}
	c, err := s.newChange(p, "", now)
	if err != nil {
		return nil, err
	}
	c.reserveLabel(true)
	for id, d := range c.site.Deployments {
		switch {
		case d.Status == Ready:
			c.add(s.Sites.Delete(db.AddressKey(d.Label)))
			c.addedBytes[d.AccountID] -= d.Bytes
		case !d.Status.hasEnded():
			c.removeOutput(id)
			if actor != nil {
				c.markCanceled(id, *actor)
			}
		}
	}
	writes := []db.Write{s.Projects.Delete(db.SiteKey(p.ProjectID)).If(equals("version", c.before.Version))}
	return slices.Concat(writes, c.writes, c.outputWrites()), c.err
}

// RemoveLabels ends the reservations of labels for a workspace that has ended. It keeps labels that an operator has
// blocked: they stay reserved until the reservation expires, so that no other workspace can use a blocked label at
// once. Errors: the errors of storage.
func (s Store) RemoveLabels(ctx context.Context, workspaceID string) error {
	prefix := db.LabelsOf(workspaceID)
	return s.Projects.Each(ctx, prefix, func(item db.Item) error {
		key := db.KeyOf(item)
		isReserved := equals("reservedFor", workspaceID).And(expression.Not(hasBlock()))
		_, err := s.DB.Do(ctx, s.Sites.Delete(db.AddressKey(prefix.Rest(key))).If(isReserved))
		if err == nil || errors.Is(err, db.ErrConditionFailed) {
			_, err = s.DB.Do(ctx, s.Projects.Delete(key))
		}
		return err
	})
}

// ForgetCreator replaces a user's name in the deployments in a workspace, after the user's account has ended. Errors:
// the errors of storage.
func (s Store) ForgetCreator(ctx context.Context, workspaceID, userID string) error {
	projects := db.ProjectsOf(workspaceID)
	forget := func(item db.Item) error {
		d, ok := db.DecodeListed(ctx, item, db.Decode[Deployment])
		if !ok || d.CreatedBy.ID != userID || d.CreatedBy.Username == workspace.DeletedUser {
			return nil
		}
		update := set("createdBy.Username", workspace.DeletedUser)
		_, err := s.DB.Do(ctx, s.Projects.Update(db.KeyOf(item), update).If(equals("createdBy.ID", userID)))
		if errors.Is(err, db.ErrConditionFailed) {
			return nil // the deployment was removed
		}
		return err
	}
	return s.Projects.Each(ctx, projects, func(item db.Item) error {
		return s.Projects.Each(ctx, db.DeploymentsOf(projects.Rest(db.KeyOf(item))), forget, "createdBy")
	}, "id")
}
