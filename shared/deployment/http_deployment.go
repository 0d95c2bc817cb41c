package deployment

import (
	"cmp"
	"context"
	"net/http"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
	"devplatform/shared/project/file"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

func (s *Service) registerDeployments(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "createDeployment", Method: http.MethodPost, Path: deploymentsPath, Tag: tag, Status: http.StatusAccepted,
		Summary: "Deploy the current files",
		Description: "The deployment is built in the background. A queued deployment of the project with the same target " +
			"is canceled. If the target is production, the deployment goes live when it is ready, unless a newer " +
			"deployment went live, another one was promoted or the site was taken offline since the request. The first " +
			"deployment creates the site. Deploying a private project publishes it. The number of deployments of a project " +
			"in a minute and of an account in a day is limited. Requires the role member or higher in the workspace.",
		Errors: []*fault.Error{
			workspace.ErrProjectNotFound, workspace.ErrDenied, limit.ErrTooMany, errOutput(DefaultLimits().AccountBytes),
			errProjectBlocked, errNotConfigured, fault.ErrConflict,
		},
	}, s.handleCreateDeployment)
	httpapi.Private(r, httpapi.Operation{
		ID: "listDeployments", Method: http.MethodGet, Path: deploymentsPath, Tag: tag,
		Summary: "List deployments",
		Description: "Newest first. The last 20 deployments are kept, and the live one always. Requires membership in " +
			"the workspace.",
		Errors: []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied},
	}, s.handleListDeployments)
	httpapi.Private(r, httpapi.Operation{
		ID: "readDeployment", Method: http.MethodGet, Path: deploymentPath, Tag: tag,
		Summary:     "Read a deployment",
		Description: "Requires membership in the workspace.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied},
	}, s.handleReadDeployment)
	httpapi.Private(r, httpapi.Operation{
		ID: "cancelDeployment", Method: http.MethodPost, Path: deploymentPath + "/cancel", Tag: tag,
		Status: http.StatusAccepted, Summary: "Cancel a deployment",
		Description: "The deployment is canceled immediately, even if it is being built. Requires the role member or " +
			"higher in the workspace.",
		Errors: []*fault.Error{workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied, errHasEnded},
	}, s.handleCancelDeployment)
	httpapi.Private(r, httpapi.Operation{
		ID: "promoteDeployment", Method: http.MethodPost, Path: deploymentPath + "/promote", Tag: tag,
		Summary: "Make a deployment live",
		Description: "The address of the site shows the deployment from now on. This promotes a preview, or rolls back " +
			"to an older deployment. Nothing is rebuilt. Builds that were requested earlier do not replace it. Requires " +
			"the role member or higher in the workspace.",
		Errors: []*fault.Error{
			workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied, errProjectBlocked, errNotReady, errNotConfigured,
		},
	}, s.handlePromoteDeployment)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteDeployment", Method: http.MethodDelete, Path: deploymentPath, Tag: tag,
		Summary: "Delete a deployment",
		Description: "The deployment and its own address are unavailable immediately. A deployment that has not ended is " +
			"canceled. The live deployment cannot be deleted. Requires the role member or higher in the workspace.",
		Errors: []*fault.Error{workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied, errLive},
	}, s.handleDeleteDeployment)
}

// DeploymentItem is a deployment as clients see it.
type DeploymentItem struct {
	ID         string           `json:"id" doc:"The deployment's ID" example:"dpl_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	ProjectID  string           `json:"projectId" doc:"The project's ID" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Number     int              `json:"number" doc:"The number in the project, counted from 1" example:"7"`
	Status     Status           `json:"status" enum:"queued,building,ready,failed,canceled" doc:"The state of the deployment" example:"ready"`
	Target     Target           `json:"target" enum:"production,preview" doc:"production: goes live at the address of the site; preview: has only its own address" example:"production"`
	URL        string           `json:"url" doc:"The deployment's own address, which never changes. It works while the status is ready" example:"https://todo-list--k3j5n2m4p6q7r2s4.example.app"`
	Message    string           `json:"message" doc:"The message of the request" example:"New colors"`
	Files      int              `json:"files" doc:"The number of files of the output. 0 until the deployment is ready" example:"12"`
	Bytes      int              `json:"bytes" doc:"The size of the output in bytes. 0 until the deployment is ready" example:"48213"`
	Live       bool             `json:"live" doc:"Whether the address of the site shows this deployment" example:"true"`
	CreatedBy  creator          `json:"createdBy" doc:"The user who requested the deployment"`
	CreatedAt  clock.Timestamp  `json:"createdAt" doc:"When the deployment was requested" example:"2026-01-31T08:15:30.123Z"`
	StartedAt  *clock.Timestamp `json:"startedAt" nullable:"true" doc:"When the build began, null if it has not" example:"2026-01-31T08:15:30.223Z"`
	ReadyAt    *clock.Timestamp `json:"readyAt" nullable:"true" doc:"When the deployment became ready, null if it has not" example:"2026-01-31T08:15:31.123Z"`
	DurationMS *int             `json:"durationMs" nullable:"true" doc:"The time from the start of the build to its end in milliseconds, null if it has not ended" example:"900"`
	Error      *buildError      `json:"error" doc:"Why the build failed, null if it has not"`
}

// buildError is a failure.Error as clients see it.
type buildError struct {
	Code    failure.Code `json:"code" doc:"The reason, for programs" enum:"BUILD_FAILED,ENTRY_NOT_FOUND,DEPENDENCY_NOT_FOUND,DEPENDENCY_TOO_LARGE,FRAMEWORK_UNSUPPORTED,OUTPUT_TOO_LARGE,BUILD_TIMEOUT,BUILD_INTERRUPTED" example:"BUILD_FAILED"`
	Message string       `json:"message" doc:"What is wrong and what to change, for people" example:"Expected \";\" but found \"}\"."`
	Path    string       `json:"path,omitzero" doc:"The path of the file with the error" example:"/src/app.tsx"`
	Line    int          `json:"line,omitzero" doc:"The line, counted from 1" example:"12"`
	Column  int          `json:"column,omitzero" doc:"The column in characters, counted from 1" example:"5"`
}

// creator is a user who requested a deployment.
type creator struct {
	ID       string `json:"id" doc:"The user's ID" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Username string `json:"username" doc:"The user's username" example:"ada"`
}

// item returns the deployment as clients see it. live is the ID of the live deployment.
func (d Deployment) item(live string, origin config.Origin) DeploymentItem {
	item := DeploymentItem{
		ID: d.ID, ProjectID: d.ProjectID, Number: d.Number, Status: d.Status, Target: d.Target,
		URL: site.URL(origin, d.Label), Message: d.Message, Files: d.Files, Bytes: d.Bytes,
		Live: live == d.ID, CreatedBy: creator(d.CreatedBy), CreatedAt: d.CreatedAt,
		StartedAt: d.StartedAt, ReadyAt: d.ReadyAt, Error: (*buildError)(d.Error),
	}
	if d.StartedAt != nil && d.EndedAt != nil {
		ms := int(d.EndedAt.Time().Sub(d.StartedAt.Time()).Milliseconds())
		item.DurationMS = &ms
	}
	return item
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

type deploymentOutput struct{ Body DeploymentItem }

type listOutput struct {
	Body struct {
		Deployments []DeploymentItem `json:"deployments" nullable:"false" doc:"The deployments, newest first"`
		NextCursor  string           `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page"`
	}
}

func (s *Service) handleCreateDeployment(
	ctx context.Context, caller httpapi.Caller, in *deployInput,
) (*deploymentOutput, error) {
	target, message := Production, ""
	if in.Body != nil {
		target, message = cmp.Or(in.Body.Target, Production), in.Body.Message
	}
	item, err := s.CreateDeployment(ctx, caller, in.ProjectID, target, message)
	return &deploymentOutput{item}, err
}

func (s *Service) handleListDeployments(
	ctx context.Context, caller httpapi.Caller, in *listInput,
) (out *listOutput, err error) {
	out = &listOutput{}
	f := Filter{Status: in.Status, Target: in.Target}
	out.Body.Deployments, out.Body.NextCursor, err = s.ListDeployments(ctx, caller, in.ProjectID, f, in.PageInput)
	return out, err
}

func (s *Service) handleReadDeployment(
	ctx context.Context, caller httpapi.Caller, in *deploymentRef,
) (*deploymentOutput, error) {
	item, err := s.ReadDeployment(ctx, caller, in.ProjectID, in.DeploymentID)
	return &deploymentOutput{item}, err
}

func (s *Service) handleCancelDeployment(
	ctx context.Context, caller httpapi.Caller, in *deploymentRef,
) (*deploymentOutput, error) {
	item, err := s.CancelDeployment(ctx, caller, in.ProjectID, in.DeploymentID)
	return &deploymentOutput{item}, err
}

func (s *Service) handlePromoteDeployment(
	ctx context.Context, caller httpapi.Caller, in *deploymentRef,
) (*deploymentOutput, error) {
	item, err := s.PromoteDeployment(ctx, caller, in.ProjectID, in.DeploymentID)
	return &deploymentOutput{item}, err
}

func (s *Service) handleDeleteDeployment(
	ctx context.Context, caller httpapi.Caller, in *deploymentRef,
) (*httpapi.DoneOutput, error) {
	return httpapi.ReplyDone("Deployment deleted.", s.DeleteDeployment(ctx, caller, in.ProjectID, in.DeploymentID))
}
