package webhook

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/webhook/signature"
	"devplatform/shared/workspace"
)

// registerWebhooks adds the endpoints of webhooks.
func (s *Service) registerWebhooks(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "createWebhook", Method: http.MethodPost, Path: webhooksPath, Tag: tag, Status: http.StatusCreated,
		Summary: "Subscribe to events",
		Description: "Requires the role of an admin or owner of the workspace. A workspace has at most 20 webhooks. All " +
			"workspaces of an account together have at most " + strconv.Itoa(DefaultLimits().AccountWebhooks) + ". The " +
			"account of a workspace is its owner, of several owners the one who was added first. Webhooks of deleted " +
			"projects do not count. The workspace and the project cannot be changed later. Events that occurred " +
			"before the webhook was created are not delivered. A new endpoint receives one delivery at a time, " +
			"and more after it has responded with a 2xx status in less than two seconds.",
		Errors: []*fault.Error{
			errBadURL, errBadSecret, workspace.ErrNotFound, workspace.ErrProjectNotFound, workspace.ErrDenied, errFull,
			DefaultLimits().errAccount(), fault.ErrConflict,
		},
	}, s.createWebhook)
	httpapi.Private(r, httpapi.Operation{
		ID: "listWebhooks", Method: http.MethodGet, Path: webhooksPath, Tag: tag,
		Summary:     "List the webhooks of every workspace that the caller administers",
		Description: "If workspaceId is set, members of that workspace who are not admins or owners receive 403.",
		Errors:      []*fault.Error{workspace.ErrNotFound, workspace.ErrDenied},
	}, s.listWebhooks)
	httpapi.Private(r, httpapi.Operation{
		ID: "readWebhook", Method: http.MethodGet, Path: webhookPath, Tag: tag,
		Summary:     "Read a webhook",
		Description: "Requires the role of an admin or owner of the workspace. The response does not contain the secret.",
		Errors:      []*fault.Error{errNoWebhook, workspace.ErrDenied},
	}, s.readWebhook)
	httpapi.Private(r, httpapi.Operation{
		ID: "updateWebhook", Method: http.MethodPut, Path: webhookPath, Tag: tag,
		Summary: "Change a webhook's settings",
		Description: "Absent fields are not changed. A URL with another host or port, or activating the webhook, resets the " +
			"webhook's count of failed attempts. After these changes, and after any other change of the URL, the endpoint " +
			"receives few deliveries at a time, like a new one. lastDelivery is not changed. A user who activates the " +
			"webhook becomes its creator: createdBy then names this user. After the secret is replaced, " +
			"the old one stays valid for 24 hours. During this time, the header webhook-signature contains one signature " +
			"for each of the two secrets.",
		Errors: []*fault.Error{errBadURL, errBadSecret, errNoWebhook, workspace.ErrDenied, fault.ErrConflict},
	}, s.updateWebhook)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteWebhook", Method: http.MethodDelete, Path: webhookPath, Tag: tag,
		Summary:     "Delete a webhook",
		Description: deleteDescription,
		Errors:      []*fault.Error{errNoWebhook, workspace.ErrDenied, fault.ErrConflict},
	}, s.deleteWebhook)
}

// deleteDescription describes what happens to the deliveries of a deleted webhook.
const deleteDescription = "Nothing more is sent, except for an attempt that is already in progress. " +
	"The webhook's deliveries can no longer be read. They are deleted 30 days after their events."

// InWebhook is embedded in the inputs of endpoints of one webhook.
type InWebhook struct {
	WebhookID string `path:"id" doc:"The webhook's ID" example:"wh_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// pattern selects the events of a subscription: an event type, a group of types, or all types.
type pattern string

// Values implements httpapi.Enum.
func (pattern) Values() []string { return event.Subscribable() }

// WebhookItem is a webhook in a response.
type WebhookItem struct {
	ID             string          `json:"id" doc:"The webhook's ID" example:"wh_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	URL            string          `json:"url" doc:"The URL that receives deliveries" example:"https://example.com/hooks"`
	Events         []pattern       `json:"events" nullable:"false" doc:"The events that are delivered: event types, groups of types such as file.*, or * for all" example:"[\"project.*\",\"file.created\"]"`
	Active         bool            `json:"active" doc:"Whether events are delivered" example:"true"`
	Description    string          `json:"description" doc:"The description of the webhook" example:"Notifies the build server."`
	WorkspaceID    string          `json:"workspaceId" doc:"The workspace whose events are delivered" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	ProjectID      *string         `json:"projectId" doc:"The only project whose events are delivered; null: all events of the workspace" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	CreatedAt      clock.Timestamp `json:"createdAt" doc:"When the webhook was created" example:"2026-01-31T08:15:30.123Z"`
	UpdatedAt      clock.Timestamp `json:"updatedAt" doc:"When the settings last changed" example:"2026-01-31T08:15:30.123Z"`
	LastDelivery   *lastDelivery   `json:"lastDelivery" doc:"The latest attempt; null if there was none. It can be up to one minute out of date"`
	CreatedBy      webhookCreator  `json:"createdBy" doc:"The user who created the webhook, or who activated it later. If this user leaves the workspace or is no longer an admin or owner, the webhook is disabled"`
	DisabledReason *string         `json:"disabledReason" doc:"Why the service disabled the webhook; null if it did not. The creator gets a mail with the reason" example:"the endpoint responded with 410 Gone"`
}

// webhookCreator is the user who created or activated a webhook.
type webhookCreator struct {
	ID       string `json:"id" doc:"The user's ID" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Username string `json:"username" doc:"The user's username" example:"ada"`
}

// lastDelivery is the result of the latest attempt.
type lastDelivery struct {
	At     clock.Timestamp `json:"at" doc:"When the attempt was made" example:"2026-01-31T08:15:30.123Z"`
	Status delivery.Status `json:"status" enum:"succeeded,failed" doc:"The result of the attempt" example:"succeeded"`
}

// WebhookWithSecret is a webhook in a response that can contain a new secret.
type WebhookWithSecret struct {
	WebhookItem
	Secret string `json:"secret,omitempty" doc:"The secret that the service generated. No other response contains it. Absent if the service generated none" example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="`
}

// webhookItem returns the response form of a webhook.
func webhookItem(w delivery.Webhook) WebhookItem {
	item := WebhookItem{
		ID: w.ID, URL: w.URL, Events: make([]pattern, len(w.Events)), Active: w.Active, Description: w.Description,
		WorkspaceID: w.WorkspaceID, ProjectID: textOrNull(w.ProjectID), CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
		CreatedBy: webhookCreator{w.CreatedBy, w.CreatedByName}, DisabledReason: textOrNull(w.DisabledReason),
	}
	for i, p := range w.Events {
		item.Events[i] = pattern(p)
	}
	if w.LastAt != nil {
		item.LastDelivery = &lastDelivery{At: *w.LastAt, Status: w.LastStatus}
	}
	return item
}

// textOrNull returns nil for an empty text.
func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

type newWebhookInput struct {
	Body struct {
		URL         string                   `json:"url" minLength:"1" maxLength:"2048" doc:"An absolute https URL without credentials, at most 2,048 characters. The host must not be localhost or an IP address that is not public. Before each attempt, the service checks that the host has a public IP address" example:"https://example.com/hooks"`
		Events      []pattern                `json:"events" minItems:"1" maxItems:"20" nullable:"false" doc:"1–20 event types, groups of types such as file.*, or * for all" example:"[\"project.*\",\"file.created\"]"`
		Secret      httpapi.Nullable[string] `json:"secret,omitzero" minLength:"1" maxLength:"256" doc:"The secret that signs deliveries, 1–256 characters. If it begins with whsec_, the rest must be base64 of 24–64 bytes. Absent or null: the service generates one, and only this response contains it." example:"a secret of your own"`
		ProjectID   *string                  `json:"projectId,omitempty" nullable:"true" doc:"The only project whose events are delivered; absent or null: all events of the workspace" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		WorkspaceID *string                  `json:"workspaceId,omitempty" doc:"The workspace whose events are delivered. If absent: the workspace of the project, or the caller's personal workspace if projectId is absent too" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		Description string                   `json:"description,omitempty" maxLength:"2000" doc:"At most 2,000 characters" example:"Notifies the build server."`
		Active      *bool                    `json:"active,omitempty" doc:"Whether events are delivered; true if absent" example:"true"`
	}
}

// Validate checks the URL and the secret.
func (in *newWebhookInput) Validate(v *httpapi.Validation) {
	v.Field("url", urlRule(&in.Body.URL))
	v.Field("secret", secretRule(in.Body.Secret.Value))
}

// urlRule returns the rule that a URL violates; "" if none. It accepts http URLs and private addresses. checkURL
// rejects them if the service does not allow them.
func urlRule(url *string) string {
	if url == nil {
		return ""
	}
	if err := sender.CheckURL(*url, true); err != nil {
		return err.Error()
	}
	return ""
}

// secretRule returns the rule that a secret violates; "" if none.
func secretRule(secret *string) string {
	if secret == nil {
		return ""
	}
	return signature.CheckSecret(*secret)
}

type webhookSettingsInput struct {
	InWebhook
	Body struct {
		URL         *string                  `json:"url,omitempty" minLength:"1" maxLength:"2048" doc:"An absolute https URL without credentials, at most 2,048 characters, with the same rules as for a new webhook" example:"https://example.com/hooks"`
		Events      []pattern                `json:"events,omitempty" minItems:"1" maxItems:"20" nullable:"false" doc:"1–20 event types, groups of types such as file.*, or * for all" example:"[\"*\"]"`
		Secret      httpapi.Nullable[string] `json:"secret,omitzero" minLength:"1" maxLength:"256" doc:"A new secret, 1–256 characters, with the same rules as for a new webhook; null: the service generates one, and only this response contains it. The old secret stays valid for 24 hours" example:"a secret of your own"`
		Description *string                  `json:"description,omitempty" maxLength:"2000" doc:"At most 2,000 characters" example:"Notifies the build server."`
		Active      *bool                    `json:"active,omitempty" doc:"Whether events are delivered" example:"true"`
	}
}

// Validate checks the URL and the secret, if there are any.
func (in *webhookSettingsInput) Validate(v *httpapi.Validation) {
	v.Field("url", urlRule(in.Body.URL))
	v.Field("secret", secretRule(in.Body.Secret.Value))
}

type webhookListInput struct {
	httpapi.PageInput
	WorkspaceID string `query:"workspaceId" doc:"Only the webhooks of this workspace" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

type webhookListOutput struct {
	Body struct {
		Webhooks   []WebhookItem `json:"webhooks" nullable:"false" doc:"In the order in which they were created"`
		NextCursor string        `json:"nextCursor,omitempty" doc:"The cursor of the next page; absent on the last one"`
	}
}

type webhookReadOutput struct{ Body WebhookItem }

type webhookOutput struct{ Body WebhookWithSecret }

// createWebhook creates a webhook.
func (s *Service) createWebhook(
	ctx context.Context, caller httpapi.Caller, in *newWebhookInput,
) (*webhookOutput, error) {
	if err := checkURL(in.Body.URL, s.allowPrivate); err != nil {
		return nil, err
	}
	workspaceID, err := s.workspaceOfNew(ctx, caller, in.Body.WorkspaceID, in.Body.ProjectID)
	if err != nil {
		return nil, err
	}
	at := clock.Stamp(s.now())
	w := delivery.Webhook{
		ID: s.ids.New(id.Webhook), WorkspaceID: workspaceID, URL: in.Body.URL, Events: unique(in.Body.Events),
		Description: in.Body.Description, Active: in.Body.Active == nil || *in.Body.Active,
		CreatedBy: caller.UserID, CreatedByName: caller.Account().Username, CreatedAt: at, UpdatedAt: at,
		Revision: 1, Generation: 1,
	}
	if !w.Active {
		w.DeactivatedAt = &at
	}
	if in.Body.ProjectID != nil {
		w.ProjectID = *in.Body.ProjectID
	}
	secret, generated := secretOrNew(in.Body.Secret.Value)
	if w.Secret, err = s.secrets.Seal(ctx, w.ID, secret); err != nil {
		return nil, err
	}
	if w.AccountID, err = s.store.Account(ctx, workspaceID); err != nil {
		return nil, err
	}
	if err := s.add(ctx, w); err != nil {
		return nil, err
	}
	return &webhookOutput{WebhookWithSecret{webhookItem(w), generated}}, nil
}

// listWebhooks returns a page of the webhooks of a workspace in the order in which they were created. Without a
// workspace, it lists the webhooks of all workspaces whose webhooks the caller may read. It makes at most two calls to
// storage, and then one query for each workspace, concurrently.
func (s *Service) listWebhooks(
	ctx context.Context, caller httpapi.Caller, in *webhookListInput,
) (*webhookListOutput, error) {
	scope := httpapi.ListScope(caller, "webhooks", in.WorkspaceID)
	after, err := s.cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	workspaces, err := s.workspacesToRead(ctx, caller, in.WorkspaceID)
	if err != nil {
		return nil, err
	}
	found := make([][]delivery.Webhook, len(workspaces))
	group, groupCtx := async.WithContext(ctx)
	group.SetLimit(maxQueries)
	for i, workspaceID := range workspaces {
		group.Go(func() error {
			readable, broken, err := s.store.Webhooks(groupCtx, workspaceID)
			for _, b := range broken {
				s.logger.ErrorContext(ctx, "webhook cannot be decoded and is not listed", "key", b.Key.SK, "cause", b.Cause.Error())
			}
			found[i] = readable
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	all := slices.Concat(found...)
	slices.SortFunc(all, func(a, b delivery.Webhook) int { return cmp.Compare(a.ID, b.ID) })
	items := []WebhookItem{}
	for _, w := range all {
		if w.ID > after {
			items = append(items, webhookItem(w))
		}
	}
	out := &webhookListOutput{}
	out.Body.Webhooks, out.Body.NextCursor, err = httpapi.CutPage(ctx, s.cursors, scope, items, in.Limit,
		func(item WebhookItem) string { return item.ID })
	return out, err
}

// readWebhook returns a webhook without its secret.
func (s *Service) readWebhook(ctx context.Context, caller httpapi.Caller, in *InWebhook) (*webhookReadOutput, error) {
	w, err := s.webhookFor(ctx, caller, in.WebhookID, workspace.ReadWebhooks)
	if err != nil {
		return nil, err
	}
	return &webhookReadOutput{webhookItem(w)}, nil
}

// updateWebhook changes the settings of a webhook. A caller who activates the webhook becomes its creator. If nothing
// changes, nothing is written.
func (s *Service) updateWebhook(
	ctx context.Context, caller httpapi.Caller, in *webhookSettingsInput,
) (*webhookOutput, error) {
	if in.Body.URL != nil {
		if err := checkURL(*in.Body.URL, s.allowPrivate); err != nil {
			return nil, err
		}
	}
	var secret, generated string
	if in.Body.Secret.Present {
		secret, generated = secretOrNew(in.Body.Secret.Value)
	}
	var w delivery.Webhook
	err := db.Retry(ctx, "update webhook", func(ctx context.Context) (err error) {
		if w, err = s.webhookFor(ctx, caller, in.WebhookID, workspace.ManageWebhooks); err != nil {
			return err
		}
		next, changed := in.applyTo(w, s.now())
		if in.Body.Secret.Present {
			var rotated bool
			if next, rotated, err = s.secrets.Rotate(ctx, next, secret, s.now()); err != nil {
				return err
			}
			changed = changed || rotated
		}
		if next.Active && !w.Active {
			next.CreatedBy, next.CreatedByName = caller.UserID, caller.Account().Username
		}
		if changed { // false after a retry whose first write succeeded
			next.Revision++
			next.UpdatedAt = clock.Stamp(s.now())
			w, err = s.store.revise(ctx, w, next)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &webhookOutput{WebhookWithSecret{webhookItem(w), generated}}, nil
}

// deleteWebhook deletes a webhook, even if it cannot be decoded. Pending deliveries of the fast lane fail when they are
// due, because the webhook no longer exists. Pending deliveries of the slow lane are not attempted. All stored
// deliveries expire as usual.
func (s *Service) deleteWebhook(
	ctx context.Context, caller httpapi.Caller, in *InWebhook,
) (*httpapi.DoneOutput, error) {
	var workspaceID string
	err := s.readIfAllowed(ctx, caller, in.WebhookID, workspace.ManageWebhooks, func(found string) error {
		workspaceID = found
		return nil
	})
	if err == nil {
		err = s.store.delete(ctx, workspaceID, in.WebhookID)
	}
	if errors.Is(err, db.ErrNotFound) {
		err = errNoWebhook.WithCause(err)
	}
	return httpapi.ReplyDone("Webhook deleted.", err)
}
