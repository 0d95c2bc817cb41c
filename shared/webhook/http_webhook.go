package webhook

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/workspace"
)

type newWebhookInput struct {
	Body struct {
		URL         string     `json:"url" minLength:"1" maxLength:"2048" doc:"An absolute https URL without credentials, at most 2,048 characters. That its address is public is checked at every attempt" example:"https://example.com/hooks"`
		Events      []pattern  `json:"events" minItems:"1" maxItems:"20" nullable:"false" doc:"1–20 types of events, groups of them, or * for all" example:"[\"project.*\",\"file.created\"]"`
		Secret      secretText `json:"secret,omitzero" doc:"What deliveries are signed with, 1–256 characters. Absent or null: the service makes one and shows it in this answer alone" example:"a secret of your own"`
		ProjectID   *string    `json:"projectId,omitempty" nullable:"true" doc:"Only this project's events; all of the workspace if absent or null" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		WorkspaceID *string    `json:"workspaceId,omitempty" doc:"Whose events; the project's workspace if absent, or else the caller's personal one" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		Description string     `json:"description,omitempty" maxLength:"2000" doc:"At most 2,000 characters" example:"Tells the build server."`
		Active      *bool      `json:"active,omitempty" doc:"Whether events are delivered; true if absent" example:"true"`
	}
}

// Resolve implements huma.Resolver: the rules that a schema can't word.
func (in *newWebhookInput) Resolve(huma.Context) []error { return malformed(&in.Body.URL) }

// malformed returns the rule that a URL violates wherever the service runs. The service requires https where it has to.
func malformed(url *string) []error {
	if url == nil || sender.CheckURL(*url, true) == nil {
		return nil
	}
	return []error{fault.Field("url", sender.CheckURL(*url, false).Error())}
}

type webhookSettingsInput struct {
	InWebhook
	Body struct {
		URL         *string    `json:"url,omitempty" minLength:"1" maxLength:"2048" doc:"An absolute https URL without credentials, at most 2,048 characters" example:"https://example.com/hooks"`
		Events      []pattern  `json:"events,omitempty" minItems:"1" maxItems:"20" nullable:"false" doc:"1–20 types of events, groups of them, or * for all" example:"[\"*\"]"`
		Secret      secretText `json:"secret,omitzero" doc:"Another secret, 1–256 characters; null: the service makes one and shows it in this answer alone. The one before stays valid for 24 hours" example:"a secret of your own"`
		Description *string    `json:"description,omitempty" maxLength:"2000" doc:"At most 2,000 characters" example:"Tells the build server."`
		Active      *bool      `json:"active,omitempty" doc:"Whether events are delivered" example:"true"`
	}
}

// Resolve implements huma.Resolver.
func (in *webhookSettingsInput) Resolve(huma.Context) []error { return malformed(in.Body.URL) }

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

// registerWebhooks adds the endpoints of webhooks.
func (s *Service) registerWebhooks(h huma.API) {
	httpapi.Register(h, httpapi.Operation{
		ID: "createWebhook", Method: http.MethodPost, Path: webhooksPath, Tag: tag, Session: true, Status: http.StatusCreated,
		Summary:     "Subscribe to events",
		Description: "For admins and owners of the workspace, which has at most 20 webhooks. Workspace and project are settled for good. Events that happened before are not delivered.",
		Errors: []*fault.Error{
			errBadURL, workspace.ErrNotFound, workspace.ErrProjectNotFound, workspace.ErrDenied, errFull, fault.ErrConflict,
		},
		Examples: createExamples,
	}, s.handleCreate)
	httpapi.Register(h, httpapi.Operation{
		ID: "listWebhooks", Method: http.MethodGet, Path: webhooksPath, Tag: tag, Session: true,
		Summary:     "The webhooks of every workspace that the caller administers",
		Description: "With workspaceId, members of that workspace below admin are denied.",
		Errors:      []*fault.Error{workspace.ErrNotFound, workspace.ErrDenied},
		Examples:    listExamples,
	}, s.handleList)
	httpapi.Register(h, httpapi.Operation{
		ID: "updateWebhook", Method: http.MethodPut, Path: webhookPath, Tag: tag, Session: true,
		Summary:     "Change a webhook's settings",
		Description: "An absent field stays as it is. Another url, or a return to active, forgets what was known of the endpoint's health. A new secret leaves the one before valid for 24 hours: until then both sign the Standard Webhooks header.",
		Errors:      []*fault.Error{errBadURL, errNoWebhook, workspace.ErrDenied, fault.ErrConflict},
		Examples:    updateExamples,
	}, s.handleUpdate)
	httpapi.Register(h, httpapi.Operation{
		ID: "deleteWebhook", Method: http.MethodDelete, Path: webhookPath, Tag: tag, Session: true,
		Summary:     "Delete a webhook for ever",
		Description: "Nothing more is sent, except for an attempt that is already in progress. Its deliveries can no longer be read; they are deleted within 30 days.",
		Errors:      []*fault.Error{errNoWebhook, workspace.ErrDenied, fault.ErrConflict},
		Examples:    func() httpapi.Examples { return httpapi.Examples{Response: webhookDeleted} },
	}, s.handleDelete)
}

func (s *Service) handleCreate(ctx context.Context, in *newWebhookInput) (*webhookOutput, error) {
	w, made, err := s.Create(ctx, httpapi.CallerFrom(ctx), NewWebhook{
		WorkspaceID: in.Body.WorkspaceID, ProjectID: in.Body.ProjectID, URL: in.Body.URL, Events: unique(in.Body.Events),
		Secret: in.Body.Secret.text, Description: in.Body.Description, Active: in.Body.Active == nil || *in.Body.Active,
	})
	if err != nil {
		return nil, err
	}
	return &webhookOutput{WebhookWithSecret{webhookItem(w), made}}, nil
}

func (s *Service) handleList(ctx context.Context, in *webhookListInput) (*webhookListOutput, error) {
	scope := httpapi.ListScope(ctx, "webhooks", in.WorkspaceID)
	after, err := s.cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	webhooks, err := s.List(ctx, httpapi.CallerFrom(ctx), in.WorkspaceID)
	if err != nil {
		return nil, err
	}
	items := make([]WebhookItem, 0, len(webhooks))
	for _, w := range webhooks {
		if w.ID > after {
			items = append(items, webhookItem(w))
		}
	}
	out := &webhookListOutput{}
	n := httpapi.Fit(items, in.Limit)
	if out.Body.Webhooks = items[:n]; n < len(items) {
		out.Body.NextCursor, err = s.cursors.Seal(ctx, scope, items[n-1].ID)
	}
	return out, err
}

func (s *Service) handleUpdate(ctx context.Context, in *webhookSettingsInput) (*webhookOutput, error) {
	w, made, err := s.Update(ctx, httpapi.CallerFrom(ctx), in.WebhookID, Settings{
		URL: in.Body.URL, Events: unique(in.Body.Events), Description: in.Body.Description, Active: in.Body.Active,
		Secret: in.Body.Secret,
	})
	if err != nil {
		return nil, err
	}
	return &webhookOutput{WebhookWithSecret{webhookItem(w), made}}, nil
}

func (s *Service) handleDelete(ctx context.Context, in *InWebhook) (*doneOutput, error) {
	if err := s.Delete(ctx, httpapi.CallerFrom(ctx), in.WebhookID); err != nil {
		return nil, err
	}
	return &doneOutput{webhookDeleted}, nil
}
