package deployment

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/limit"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

func (s *Service) registerDeploy(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "createDeployment", Method: http.MethodPost, Path: deploymentsPath, Tag: tag, Status: http.StatusAccepted,
		Summary: "Deploy the current files",
		Description: "The deployment is built in the background. A queued deployment of the project with the same target " +
			"is canceled. If the target is production, the deployment goes live when it is ready, unless a newer " +
			"deployment went live, another one was promoted or the site was taken offline since the request. The first " +
			"deployment creates the site. Deploying a private project publishes it. The number of deployments of a project " +
			"in a minute and of an account in a day is limited. Requires the role member or higher in the workspace.",
		Errors: []*fault.Error{
			workspace.ErrProjectNotFound, workspace.ErrDenied, limit.ErrTooMany,
			errOutput(config.Defaults[StorageSettings]().Bytes()), errProjectBlocked, errNotConfigured, fault.ErrConflict,
		},
	}, s.CreateDeployment)
}

// DeployInput is the input of CreateDeployment.
type DeployInput struct {
	file.InProject
	Body *DeployRequest
}

// DeployRequest describes a deployment to request.
type DeployRequest struct {
	Target  Target `json:"target,omitempty" enum:"production,preview" doc:"production: go live when ready; preview: only the deployment's own address. The default is production" example:"production"`
	Message string `json:"message,omitempty" maxLength:"200" doc:"What changed, at most 200 characters" example:"New colors"`
}

// CreateDeployment requests a deployment of the current files of a project.
func (s *Service) CreateDeployment(
	ctx context.Context, caller httpapi.Caller, in *DeployInput,
) (*DeploymentOutput, error) {
	var c *change
	takenLabels := 0
	err := db.Retry(ctx, "deploy a project", func(ctx context.Context) (err error) {
		c, err = s.request(ctx, caller, in, takenLabels)
		if errors.Is(err, errLabelTaken) && takenLabels < maxTakenLabels {
			takenLabels++
			return errors.Join(db.ErrStale, err)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	newBuildJob(c.deployment).Send(ctx, s.Send, s.Logger)
	return outputOf(c, nil)
}

// request makes one attempt to add a deployment to a project, and returns the change. takenLabels is the number of
// earlier attempts whose label was taken. Error: errLabelTaken if the label of a new site is taken.
func (s *Service) request(
	ctx context.Context, caller httpapi.Caller, in *DeployInput, takenLabels int,
) (*change, error) {
	access := s.Store.access()
	project, account, err := workspace.ReadWith(ctx, access, caller.UserID, in.ProjectID, workspace.Write,
		func(ctx context.Context, located workspace.ProjectAccess) (string, error) {
			account, err := access.Account(ctx, located.WorkspaceID)
			if errors.Is(err, workspace.ErrNotFound) { // the workspace is being deleted
				err = workspace.ErrProjectNotFound.WithCause(err)
			}
			return account, err
		}, db.SiteKey(in.ProjectID))
	if err != nil {
		return nil, err
	}
	c, err := s.Store.newChange(project, "", s.Clock())
	switch {
	case err != nil:
		return nil, err
	case s.Store.Origin == "":
		return nil, errNotConfigured
	case c.site.Blocked:
		return nil, errProjectBlocked
	}
	perMinute := limit.Rule{Name: "deployments-project", Limit: s.Limits.ProjectMinute, Window: time.Minute}
	perDay := limit.Rule{Name: "deployments-account", Limit: s.Limits.AccountDay, Window: 24 * time.Hour}
	c.add(s.counters.Write(perMinute, in.ProjectID), s.counters.Write(perDay, account))
	c.needSpace(account, errOutput(s.Store.MaxOutput))
	if c.isNew {
		if err := c.createSite(ctx, account, takenLabels); err != nil {
			return nil, err
		}
	}
	var body DeployRequest
	if in.Body != nil {
		body = *in.Body
	}
	c.site.Number++
	c.site.Sequence++
	c.createDeployment(Deployment{
		ID:        s.IDs.New(id.Deployment), // IDs and numbers have the same order
		ProjectID: c.ProjectID, WorkspaceID: c.WorkspaceID,
		Message: body.Message, CreatedBy: workspace.ActorOf(caller), CreatedAt: clock.Stamp(c.now),
		Summary: Summary{
			Number: c.site.Number, Sequence: c.site.Sequence, Status: Queued, Target: cmp.Or(body.Target, Production),
			Label: c.site.Label + "--" + randomBase32(16), AccountID: account,
		},
	})
	return c, c.commit(ctx)
}
