package webhook

import (
	"context"
	"net/http"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/workspace"
)

type newWebhookInput struct {
	Body struct {
		URL         string                   `json:"url" minLength:"1" maxLength:"2048" doc:"An absolute https URL without credentials, at most 2,048 characters. That its address is public is checked at every attempt" example:"https://example.com/hooks"`
		Events      []pattern                `json:"events" minItems:"1" maxItems:"20" nullable:"false" doc:"1–20 types of events, groups of them, or * for all" example:"[\"project.*\",\"file.created\"]"`
		Secret      httpapi.Nullable[string] `json:"secret,omitzero" minLength:"1" maxLength:"256" doc:"What deliveries are signed with, 1–256 characters. Absent or null: the service makes one and shows it in this answer alone" example:"a secret of your own"`
		ProjectID   *string                  `json:"projectId,omitempty" nullable:"true" doc:"Only this project's events; all of the workspace if absent or null" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		WorkspaceID *string                  `json:"workspaceId,omitempty" doc:"Whose events; the project's workspace if absent, or else the caller's personal one" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		Description string                   `json:"description,omitempty" maxLength:"2000" doc:"At most 2,000 characters" example:"Tells the build server."`
		Active      *bool                    `json:"active,omitempty" doc:"Whether events are delivered; true if absent" example:"true"`
	}
}

// Validate checks the URL.
func (in *newWebhookInput) Validate(v *httpapi.Validation) { v.Field("url", malformed(&in.Body.URL)) }

// malformed returns the rule that a URL breaks wherever the service runs. The service knows whether HTTPS is required.
func malformed(url *string) string {
	if url == nil || sender.CheckURL(*url, true) == nil {
		return ""
	}
	return sender.CheckURL(*url, false).Error()
}

type webhookSettingsInput struct {
	InWebhook
	Body struct {
		URL         *string                  `json:"url,omitempty" minLength:"1" maxLength:"2048" doc:"An absolute https URL without credentials, at most 2,048 characters" example:"https://example.com/hooks"`
		Events      []pattern                `json:"events,omitempty" minItems:"1" maxItems:"20" nullable:"false" doc:"1–20 types of events, groups of them, or * for all" example:"[\"*\"]"`
		Secret      httpapi.Nullable[string] `json:"secret,omitzero" minLength:"1" maxLength:"256" doc:"Another secret, 1–256 characters; null: the service makes one and shows it in this answer alone. The one before stays valid for 24 hours" example:"a secret of your own"`
		Description *string                  `json:"description,omitempty" maxLength:"2000" doc:"At most 2,000 characters" example:"Tells the build server."`
		Active      *bool                    `json:"active,omitempty" doc:"Whether events are delivered" example:"true"`
	}
}

// Validate checks the URL, if there is one.
func (in *webhookSettingsInput) Validate(v *httpapi.Validation) {
	v.Field("url", malformed(in.Body.URL))
}

type webhookListInput struct {
	httpapi.PageInput
	WorkspaceID string `query:"workspaceId" doc:"Only the webhooks of this workspace" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

type webhookListOutput struct {
	Body struct {
		Webhooks   []WebhookItem `json:"webhooks" nullable:"false" doc:"In the order in which they were made"`
		NextCursor string        `json:"nextCursor,omitempty" doc:"Leads on to the next page; absent on the last one"`
	}
}

type webhookOutput struct{ Body WebhookWithSecret }

type doneOutput struct{ Body httpapi.Done }

var (
	webhookDeleted = httpapi.Done{Success: true, Message: "Webhook deleted."}
	errBadURL      = fault.Invalid(fault.Field("url", sender.CheckURL("http://example.com/hooks", false).Error()))
)

// registerWebhooks adds calls 19 to 22.
func (s *Service) registerWebhooks(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "createWebhook", Method: http.MethodPost, Path: webhooksPath, Tag: tag, Status: http.StatusCreated,
		Summary:     "Subscribe to events",
		Description: "For admins and owners of the workspace, which has at most 20 webhooks. Workspace and project are settled for good. Events that happened before are not delivered.",
		Errors: []*fault.Error{
			errBadURL, workspace.ErrNotFound, errNoProject, errDenied, errFull(maxWebhooks), fault.ErrConflict,
		},
	}, s.handleCreate)
	httpapi.Private(r, httpapi.Operation{
		ID: "listWebhooks", Method: http.MethodGet, Path: webhooksPath, Tag: tag,
		Summary:     "The webhooks of every workspace that the caller administers",
		Description: "With workspaceId, members of that workspace below admin are denied.",
		Errors:      []*fault.Error{workspace.ErrNotFound, errDenied},
	}, s.handleList)
	httpapi.Private(r, httpapi.Operation{
		ID: "updateWebhook", Method: http.MethodPut, Path: webhookPath, Tag: tag,
		Summary:     "Change a webhook's settings",
		Description: "An absent field stays as it is. Another url, or a return to active, forgets what was known of the endpoint's health. A new secret leaves the one before valid for 24 hours: until then both sign the Standard Webhooks header.",
		Errors:      []*fault.Error{errBadURL, errNoWebhook, errDenied, fault.ErrConflict},
	}, s.handleUpdate)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteWebhook", Method: http.MethodDelete, Path: webhookPath, Tag: tag,
		Summary:     "Delete a webhook for ever",
		Description: "Its deliveries go with it, and nothing more is sent; an attempt that is under way may still arrive.",
		Errors:      []*fault.Error{errNoWebhook, errDenied, fault.ErrConflict},
	}, s.handleDelete)
}

func (s *Service) handleCreate(ctx context.Context, _ httpapi.Caller, in *newWebhookInput) (*webhookOutput, error) {
	w, made, err := s.create(ctx, newWebhook{
		WorkspaceID: in.Body.WorkspaceID, ProjectID: in.Body.ProjectID, URL: in.Body.URL, Events: once(in.Body.Events),
		Secret: in.Body.Secret.Value, Description: in.Body.Description, Active: in.Body.Active == nil || *in.Body.Active,
	})
	if err != nil {
		return nil, err
	}
	return &webhookOutput{WebhookWithSecret{w.item(), made}}, nil
}

func (s *Service) handleList(ctx context.Context, _ httpapi.Caller, in *webhookListInput) (*webhookListOutput, error) {
	var err error
	out := &webhookListOutput{}
	out.Body.Webhooks, out.Body.NextCursor, err = s.list(ctx, in.WorkspaceID, in.PageInput)
	return out, err
}

func (s *Service) handleUpdate(ctx context.Context, _ httpapi.Caller, in *webhookSettingsInput) (*webhookOutput, error) {
	change := settings{URL: in.Body.URL, Events: once(in.Body.Events), Description: in.Body.Description, Active: in.Body.Active}
	w, made, err := s.update(ctx, in.WebhookID, change, in.Body.Secret)
	if err != nil {
		return nil, err
	}
	return &webhookOutput{WebhookWithSecret{w.item(), made}}, nil
}

func (s *Service) handleDelete(ctx context.Context, _ httpapi.Caller, in *InWebhook) (*doneOutput, error) {
	if err := s.remove(ctx, in.WebhookID); err != nil {
		return nil, err
	}
	return &doneOutput{webhookDeleted}, nil
}
