package deployment

import (
	"cmp"
	"context"
	"net/http"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

var tag = httpapi.Tag{
	Name: "Deployments",
	Description: "A deployment is an immutable build of the files of a project. A site is the address of a project, at which one deployment is live. " +
		"Deploy, read the deployment until its status is ready, and open its URL.",
}

const (
	deploymentsPath = "/api/projects/{id}/deployments"
	deploymentPath  = deploymentsPath + "/{deploymentId}"
	sitePath        = "/api/projects/{id}/site"
)

// Register adds the endpoints of deployments and sites.
func (s *Service) Register(r *httpapi.Routes) {
	s.registerDeployments(r)
	s.registerChanges(r)
	s.registerSite(r)
}

func (s *Service) registerDeployments(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "createDeployment", Method: http.MethodPost, Path: deploymentsPath, Tag: tag, Status: http.StatusAccepted,
		Summary:     "Deploy the current files",
		Description: "The deployment is built in the background. A queued deployment of the project with the same target is canceled. If the target is production, the deployment goes live when it is ready, unless a newer deployment went live, another one was promoted or the site was taken offline since the request. The first deployment creates the site. Deploying a private project publishes it. The number of deployments of a project in a minute and of an account in a day is limited. Requires the role member or higher in the workspace.",
		Errors: []*fault.Error{
			workspace.ErrProjectNotFound, workspace.ErrDenied, limit.ErrTooMany, errOutput(DefaultLimits().AccountBytes),
			errNotConfigured, fault.ErrConflict,
		},
	}, s.handleDeploy)
	httpapi.Private(r, httpapi.Operation{
		ID: "listDeployments", Method: http.MethodGet, Path: deploymentsPath, Tag: tag,
		Summary:     "List deployments",
		Description: "Newest first. The last 20 deployments are kept, and the live one always. Requires membership in the workspace.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied},
	}, s.handleList)
	httpapi.Private(r, httpapi.Operation{
		ID: "readDeployment", Method: http.MethodGet, Path: deploymentPath, Tag: tag,
		Summary:     "Read a deployment",
		Description: "Requires membership in the workspace.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied},
	}, s.handleRead)
	httpapi.Private(r, httpapi.Operation{
		ID: "readDeploymentLog", Method: http.MethodGet, Path: deploymentPath + "/log", Tag: tag,
		Summary:     "Read the log of a deployment",
		Description: "Oldest line first. A log has at most 500 lines and 100 KiB: of a longer one, the first lines are left out. If a build is interrupted and repeated, the new lines replace the old ones. Requires membership in the workspace.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied},
	}, s.handleLog)
	httpapi.Private(r, httpapi.Operation{
		ID: "listDeploymentFiles", Method: http.MethodGet, Path: deploymentPath + "/files", Tag: tag,
		Summary:     "List the files of the output",
		Description: "In path order. A deployment that is not ready has no files. Requires membership in the workspace.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied},
	}, s.handleFiles)
}

func (s *Service) registerChanges(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "cancelDeployment", Method: http.MethodPost, Path: deploymentPath + "/cancel", Tag: tag,
		Status: http.StatusAccepted, Summary: "Cancel a deployment",
		Description: "The deployment is canceled immediately, even if it is being built. Requires the role member or higher in the workspace.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied, errHasEnded},
	}, s.handleCancel)
	httpapi.Private(r, httpapi.Operation{
		ID: "promoteDeployment", Method: http.MethodPost, Path: deploymentPath + "/promote", Tag: tag,
		Summary:     "Make a deployment live",
		Description: "The address of the site shows the deployment from now on. This promotes a preview, or rolls back to an older deployment. Nothing is rebuilt. Builds that were requested earlier do not replace it. Requires the role member or higher in the workspace.",
		Errors: []*fault.Error{
			workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied, errNotReady, errNotConfigured,
		},
	}, s.handlePromote)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteDeployment", Method: http.MethodDelete, Path: deploymentPath, Tag: tag,
		Summary:     "Delete a deployment",
		Description: "The deployment and its own address are unavailable immediately. A deployment that has not ended is canceled. The live deployment cannot be deleted. Requires the role member or higher in the workspace.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied, errLive},
	}, s.handleDelete)
}

func (s *Service) registerSite(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "readSite", Method: http.MethodGet, Path: sitePath, Tag: tag,
		Summary:     "Read the site of a project",
		Description: "Requires membership in the workspace.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, errNoSite, workspace.ErrDenied},
	}, s.handleReadSite)
	httpapi.Private(r, httpapi.Operation{
		ID: "updateSite", Method: http.MethodPut, Path: sitePath, Tag: tag,
		Summary:     "Change the address or the settings of a site",
		Description: "A field that is absent is not changed. The old label stays reserved for the workspace for 30 days. The labels of a workspace can change 20 times a day. The addresses of existing deployments do not change. The label of a blocked site cannot be changed. Requires the role member or higher in the workspace.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("label", checkLabel("-"))), workspace.ErrProjectNotFound, errNoSite, workspace.ErrDenied,
			errBlocked, errLabelTaken, errNotConfigured, limit.ErrTooMany,
		},
	}, s.handleUpdateSite)
	httpapi.Private(r, httpapi.Operation{
		ID: "takeSiteOffline", Method: http.MethodDelete, Path: sitePath, Tag: tag,
		Summary:     "Take a site offline",
		Description: "No deployment is live afterwards. The label, the deployments and their own addresses remain. Promote or deploy to be online again. Requires the role member or higher in the workspace.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, errNoSite, workspace.ErrDenied},
	}, s.handleTakeOffline)
}

type deployInput struct {
	file.InProject
	Body *struct {
		Target  Target `json:"target,omitempty" enum:"production,preview" doc:"production: go live when ready; preview: only the deployment's own address. The default is production" example:"production"`
		Message string `json:"message,omitempty" maxLength:"200" doc:"What changed, at most 200 characters" example:"New colors"`
	}
}

type listInput struct {
	file.InProject
	httpapi.PageInput
	Status Status `query:"status" enum:"queued,building,ready,failed,canceled" doc:"List only the deployments with this status" example:"ready"`
	Target Target `query:"target" enum:"production,preview" doc:"List only the deployments with this target" example:"preview"`
}

type deploymentRef struct {
	file.InProject
	DeploymentID string `path:"deploymentId" doc:"The deployment's ID" example:"dpl_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

type pageOfDeploymentInput struct {
	deploymentRef
	httpapi.PageInput
}

type siteInput struct {
	file.InProject
	Body struct {
		Label *string `json:"label,omitempty" minLength:"3" maxLength:"40" doc:"The first part of the host name: 3–40 lowercase letters, digits and single hyphens. Names with which a site could pretend to be a part of the service, such as login or www2, are reserved" example:"todo-list"`
		SPA   *bool   `json:"spa,omitempty" doc:"Whether a path without a file shows /index.html" example:"true"`
	}
}

// Validate checks the rules that tags cannot express.
func (in *siteInput) Validate(v *httpapi.Validation) {
	if in.Body.Label != nil {
		v.Field("label", checkLabel(*in.Body.Label))
	}
}

type deploymentOutput struct{ Body DeploymentItem }

type listOutput struct {
	Body struct {
		Deployments []DeploymentItem `json:"deployments" nullable:"false" doc:"The deployments, newest first"`
		NextCursor  string           `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page"`
	}
}

type logOutput struct {
	Body struct {
		Lines      []LogLine `json:"lines" nullable:"false" doc:"The lines, oldest first"`
		NextCursor string    `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page"`
	}
}

type filesOutput struct {
	Body struct {
		Files      []DeploymentFile `json:"files" nullable:"false" doc:"The files, in path order"`
		NextCursor string           `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page"`
	}
}

type siteOutput struct{ Body SiteItem }

func (s *Service) handleDeploy(
	ctx context.Context, caller httpapi.Caller, in *deployInput,
) (*deploymentOutput, error) {
	target, message := Production, ""
	if in.Body != nil {
		target, message = cmp.Or(in.Body.Target, Production), in.Body.Message
	}
	v, err := s.Deploy(ctx, caller, in.ProjectID, target, message)
	return &deploymentOutput{v}, err
}

func (s *Service) handleList(
	ctx context.Context, caller httpapi.Caller, in *listInput,
) (out *listOutput, err error) {
	out = &listOutput{}
	f := Filter{Status: in.Status, Target: in.Target}
	out.Body.Deployments, out.Body.NextCursor, err = s.List(ctx, caller, in.ProjectID, f, in.PageInput)
	return out, err
}

func (s *Service) handleRead(
	ctx context.Context, caller httpapi.Caller, in *deploymentRef,
) (*deploymentOutput, error) {
	v, err := s.Get(ctx, caller, in.ProjectID, in.DeploymentID)
	return &deploymentOutput{v}, err
}

func (s *Service) handleLog(
	ctx context.Context, caller httpapi.Caller, in *pageOfDeploymentInput,
) (out *logOutput, err error) {
	out = &logOutput{}
	out.Body.Lines, out.Body.NextCursor, err = s.Log(ctx, caller, in.ProjectID, in.DeploymentID, in.PageInput)
	return out, err
}

func (s *Service) handleFiles(
	ctx context.Context, caller httpapi.Caller, in *pageOfDeploymentInput,
) (out *filesOutput, err error) {
	out = &filesOutput{}
	out.Body.Files, out.Body.NextCursor, err = s.Files(ctx, caller, in.ProjectID, in.DeploymentID, in.PageInput)
	return out, err
}

func (s *Service) handleCancel(
	ctx context.Context, caller httpapi.Caller, in *deploymentRef,
) (*deploymentOutput, error) {
	v, err := s.Cancel(ctx, caller, in.ProjectID, in.DeploymentID)
	return &deploymentOutput{v}, err
}

func (s *Service) handlePromote(
	ctx context.Context, caller httpapi.Caller, in *deploymentRef,
) (*deploymentOutput, error) {
	v, err := s.Promote(ctx, caller, in.ProjectID, in.DeploymentID)
	return &deploymentOutput{v}, err
}

var (
	deploymentDeleted = httpapi.Done{Success: true, Message: "Deployment deleted."}
	siteOffline       = httpapi.Done{Success: true, Message: "The site is offline."}
)

func (s *Service) handleDelete(
	ctx context.Context, caller httpapi.Caller, in *deploymentRef,
) (*httpapi.DoneOutput, error) {
	if err := s.Delete(ctx, caller, in.ProjectID, in.DeploymentID); err != nil {
		return nil, err
	}
	return &httpapi.DoneOutput{Body: deploymentDeleted}, nil
}

func (s *Service) handleReadSite(ctx context.Context, caller httpapi.Caller, in *file.InProject) (*siteOutput, error) {
	v, err := s.Site(ctx, caller, in.ProjectID)
	return &siteOutput{v}, err
}

func (s *Service) handleUpdateSite(ctx context.Context, caller httpapi.Caller, in *siteInput) (*siteOutput, error) {
	v, err := s.UpdateSite(ctx, caller, in.ProjectID, SiteSettings(in.Body))
	return &siteOutput{v}, err
}

func (s *Service) handleTakeOffline(
	ctx context.Context, caller httpapi.Caller, in *file.InProject,
) (*httpapi.DoneOutput, error) {
	if err := s.TakeOffline(ctx, caller, in.ProjectID); err != nil {
		return nil, err
	}
	return &httpapi.DoneOutput{Body: siteOffline}, nil
}
