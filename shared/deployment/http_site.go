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
	}, s.readSite)
	httpapi.Private(r, httpapi.Operation{
		ID: "updateSite", Method: http.MethodPut, Path: sitePath, Tag: tag,
		Summary:     "Change the address or the settings of a site",
		Description: "A field that is absent is not changed. The old label stays reserved for the workspace for 30 days. The labels of a workspace can change 20 times a day. The addresses of existing deployments do not change. The label of a blocked site cannot be changed. Requires the role member or higher in the workspace.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("label", checkLabel("-"))), workspace.ErrProjectNotFound, errNoSite, workspace.ErrDenied,
			errBlocked, errLabelTaken, errNotConfigured, limit.ErrTooMany,
		},
	}, s.UpdateSite)
	httpapi.Private(r, httpapi.Operation{
		ID: "takeSiteOffline", Method: http.MethodDelete, Path: sitePath, Tag: tag,
		Summary:     "Take a site offline",
		Description: "No deployment is live afterwards. The label, the deployments and their own addresses remain. Promote or deploy to be online again. Requires the role member or higher in the workspace.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, errNoSite, workspace.ErrDenied},
	}, s.TakeSiteOffline)
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

// SiteInput is the input of UpdateSite. A field that is nil is not changed.
type SiteInput struct {
	file.InProject
	Body struct {
		Label *string `json:"label,omitempty" minLength:"3" maxLength:"40" doc:"The first part of the host name: 3–40 lowercase letters, digits and single hyphens. Names with which a site could pretend to be a part of the service, such as login or www2, are reserved" example:"todo-list"`
		SPA   *bool   `json:"spa,omitempty" doc:"Whether a path without a file shows /index.html" example:"true"`
	}
}

// Validate checks the rules that tags cannot express.
func (in *SiteInput) Validate(v *httpapi.Validation) {
	if in.Body.Label != nil {
		v.Field("label", checkLabel(*in.Body.Label))
	}
}

// SiteOutput is the response with a site.
type SiteOutput struct{ Body SiteItem }

// siteOutput returns the response with the site of a change, or err.
func siteOutput(c *change, err error) (*SiteOutput, error) {
	if err != nil {
		return nil, err
	}
	return &SiteOutput{c.site.item(c.store.Origin)}, nil
}

// readSite returns the site of a project.
func (s *Service) readSite(ctx context.Context, caller httpapi.Caller, in *file.InProject) (*SiteOutput, error) {
	c, err := s.open(ctx, caller, in.ProjectID, "", workspace.Read)
	if err == nil && c.isNew {
		err = errNoSite
	}
	return siteOutput(c, err)
}

// UpdateSite changes the settings of a site. A new label is the address of the site immediately; the old one stays
// reserved for the workspace for 30 days.
func (s *Service) UpdateSite(ctx context.Context, caller httpapi.Caller, in *SiteInput) (*SiteOutput, error) {
	label, spa := in.Body.Label, in.Body.SPA
	return siteOutput(s.modify(ctx, caller, "change a site", in.ProjectID, "", func(c *change) error {
		if s.Store.Origin == "" {
			return errNotConfigured
		}
		if spa != nil && *spa != c.site.SPA {
			c.setSPA(*spa)
		}
		switch {
		case label != nil && *label != c.site.Label:
			c.add(s.counters.Write(labelRule, c.WorkspaceID))
			c.reserveLabel(false)
			return c.takeLabel(ctx, *label, c.site.accountID())
		case c.site.SPA != c.before.SPA:
			c.updateAddress(set("spa", c.site.SPA))
		}
		return nil
	}))
}

// TakeSiteOffline takes a site offline. Its label and its deployments remain.
func (s *Service) TakeSiteOffline(
	ctx context.Context, caller httpapi.Caller, in *file.InProject,
) (*httpapi.DoneOutput, error) {
	_, err := s.modify(ctx, caller, "take a site offline", in.ProjectID, "", func(c *change) error {
		c.goOffline()
		return nil
	})
	return httpapi.ReplyDone("The site is offline.", err)
}
