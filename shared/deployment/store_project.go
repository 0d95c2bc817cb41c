package deployment

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/event"
)

// RemoveSite returns the writes that remove all addresses of a project and cancel its deployments that have not
// ended, as part of the transaction that deletes the project. The label of the site stays reserved for the workspace.
// deleted is the event of the deletion. item is the record of the site as it was read; nil if there is none. If the
// condition of a write fails, the site has changed since then: read it again. The records and the objects of the
// deployments are removed later.
func (s Store) RemoveSite(deleted event.Change, item db.Item, now time.Time) ([]db.Write, error) {
	projectID := deleted.ProjectID
	if item == nil {
		none := expression.AttributeNotExists(expression.Name(db.AttrPK))
		return []db.Write{s.Projects.Check(db.SiteKey(projectID), none)}, nil
	}
	c, err := s.change(projectID, deleted.WorkspaceID, deleted.Data.Project.Name, item, now)
	if err != nil {
		return nil, err
	}
	c.giveUp()
	for id, d := range c.site.Deployments {
		switch {
		case d.Status == Ready:
			c.add(s.Sites.Delete(db.AddressKey(d.Label)))
			c.output[d.AccountID] -= d.Bytes
		case !d.Status.hasEnded():
			c.removeOutput(id)
			if err := c.endCanceled(id, deleted.Data.Actor); err != nil {
				return nil, err
			}
		}
	}
	writes := []db.Write{s.Projects.Delete(db.SiteKey(projectID)).If(equals("version", c.before.Version))}
	return slices.Concat(writes, c.writes, c.outputWrites()), nil
}
