package deployment

import (
	"context"
	"net/http"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
	"devplatform/shared/project/file"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

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
	}, s.handleTakeSiteOffline)
}

// SiteItem is a site as clients see it.
type SiteItem struct {
	Label        string          `json:"label" doc:"The first part of the host name of the site" example:"todo-list"`
	URL          string          `json:"url" doc:"The address of the site" example:"https://todo-list.example.app"`
	SPA          bool            `json:"spa" doc:"Whether a path without a file shows /index.html. The first deployment sets it if the framework of the project is react" example:"false"`
	DeploymentID *string         `json:"deploymentId" nullable:"true" doc:"The ID of the live deployment, null if the site is offline" example:"dpl_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	UpdatedAt    clock.Timestamp `json:"updatedAt" doc:"When the label, the setting or the live deployment last changed" example:"2026-01-31T08:15:30.123Z"`
}

func (s Site) item(origin config.Origin) SiteItem {
	item := SiteItem{Label: s.Label, URL: site.URL(origin, s.Label), SPA: s.SPA, UpdatedAt: s.UpdatedAt}
	if s.DeploymentID != "" {
		item.DeploymentID = &s.DeploymentID
	}
	return item
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

type siteOutput struct{ Body SiteItem }

func (s *Service) handleReadSite(ctx context.Context, caller httpapi.Caller, in *file.InProject) (*siteOutput, error) {
	item, err := s.ReadSite(ctx, caller, in.ProjectID)
	return &siteOutput{item}, err
}

func (s *Service) handleUpdateSite(ctx context.Context, caller httpapi.Caller, in *siteInput) (*siteOutput, error) {
	item, err := s.UpdateSite(ctx, caller, in.ProjectID, SiteSettings(in.Body))
	return &siteOutput{item}, err
}

func (s *Service) handleTakeSiteOffline(
	ctx context.Context, caller httpapi.Caller, in *file.InProject,
) (*httpapi.DoneOutput, error) {
	return httpapi.ReplyDone("The site is offline.", s.TakeSiteOffline(ctx, caller, in.ProjectID))
}
