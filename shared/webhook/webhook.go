package webhook

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/webhook/signature"
	"devplatform/shared/workspace"
)

// NewWebhook contains the settings of a new webhook.
type NewWebhook struct {
	WorkspaceID, ProjectID *string // nil: see Service.checkNew
	URL                    string
	Events                 []string
	Secret                 *string // nil: the service generates one
	Description            string
	Active                 bool
}

// Settings are the changes that the owners of a webhook can make. A nil field is not changed.
type Settings struct {
	URL         *string
	Events      []string
	Description *string
	Active      *bool
	Secret      httpapi.Nullable[string] // null: the service generates a new one
}

// applyTo returns the webhook after all changes except a change of the secret. changed reports whether a setting
// changed. A new URL, or an activation, starts a new generation of the endpoint: it has to respond promptly again
// before it is in the fast lane. A URL with another host, or an activation, also resets the series of failures. A
// webhook that the service disabled stays disabled until its owners activate it. Until then, its events are stored, so
// that they can be recovered.
func (in Settings) applyTo(w delivery.Webhook, now time.Time) (_ delivery.Webhook, changed bool) {
	startsGeneration, resetsHealth := false, false
	if in.URL != nil && *in.URL != w.URL {
		startsGeneration, resetsHealth = true, !haveSameHost(*in.URL, w.URL)
		w.URL, changed = *in.URL, true
	}
	if in.Events != nil && !slices.Equal(in.Events, w.Events) {
		w.Events, changed = in.Events, true
	}
	if in.Description != nil && *in.Description != w.Description {
		w.Description, changed = *in.Description, true
	}
	if in.Active != nil && *in.Active != w.Active {
		w, changed = withActive(w, *in.Active, now), true
		startsGeneration, resetsHealth = startsGeneration || w.Active, resetsHealth || w.Active
	}
	if startsGeneration {
		w.Generation++
		w.Prompt, w.Window = false, 0
		if w.Active {
			w.DisabledReason = ""
		}
	}
	if resetsHealth {
		w.Health = delivery.Health{LastAt: w.LastAt, LastStatus: w.LastStatus}
		w.NotBefore = nil
	}
	return w, changed
}

// withActive returns the webhook after its owners activated or deactivated it.
func withActive(w delivery.Webhook, active bool, now time.Time) delivery.Webhook {
	at := clock.Stamp(now)
	switch {
	case !active:
		w.DeactivatedAt, w.ActivatedAt = &at, nil
	case w.DeactivatedAt != nil && w.ActivatedAt == nil:
		w.ActivatedAt = &at
	}
	w.Active = active
	return w
}

// haveSameHost reports whether two URLs have the same host and port. Both URLs are valid.
func haveSameHost(a, b string) bool {
	first, err1 := url.Parse(a)
	second, err2 := url.Parse(b)
	return err1 == nil && err2 == nil && strings.EqualFold(first.Host, second.Host)
}

// checkURL returns a VALIDATION_FAILED error if the service may not deliver to the URL.
func checkURL(url string, allowPrivate bool) error {
	if err := sender.CheckURL(url, allowPrivate); err != nil {
		return fault.Invalid(fault.Field("url", err.Error()))
	}
	return nil
}

// CreateWebhook creates a webhook. generated is its secret if the service generated it, otherwise "".
func (s *Service) CreateWebhook(
	ctx context.Context, caller httpapi.Caller, in NewWebhook,
) (w delivery.Webhook, generated string, err error) {
	if err := checkURL(in.URL, s.allowPrivate); err != nil {
		return w, "", err
	}
	workspaceID, err := s.checkNew(ctx, caller, in)
	if err != nil {
		return w, "", err
	}
	at := clock.Stamp(s.now())
	w = delivery.Webhook{
		ID: s.ids.New(id.Webhook), WorkspaceID: workspaceID, URL: in.URL, Events: in.Events, Description: in.Description,
		Active: in.Active, CreatedBy: caller.UserID, CreatedByName: caller.Account().Username, CreatedAt: at, UpdatedAt: at,
		Revision: 1, Generation: 1,
	}
	if !in.Active {
		w.DeactivatedAt = &at
	}
	if in.ProjectID != nil {
		w.ProjectID = *in.ProjectID
	}
	secret, generated := secretOrNew(in.Secret)
	if w.Secret, err = s.secrets.Seal(ctx, w.ID, secret); err != nil {
		return w, "", err
	}
	if w.AccountID, err = s.access.Account(ctx, workspaceID); err != nil {
		return w, "", err
	}
	return w, generated, s.add(ctx, w)
}

// add stores a new webhook. If the workspace or the account has reached its limit, it deletes the webhooks of deleted
// projects, which do not count, and tries again.
func (s *Service) add(ctx context.Context, w delivery.Webhook) error {
	workspaces, err := s.access.AccountWorkspaces(ctx, w.AccountID)
	if err != nil {
		return err
	}
	account := accountLimit{workspaces: workspaces, webhooks: s.quotas.AccountWebhooks}
	err = s.store.create(ctx, w, account)
	switch {
	case errors.Is(err, errFull):
		workspaces = []string{w.WorkspaceID}
	case !errors.Is(err, errAccountFull):
		return err
	}
	deleted, deleteErr := s.store.deleteOrphans(ctx, workspaces)
	switch {
	case deleteErr != nil:
		return deleteErr
	case deleted:
		err = s.store.create(ctx, w, account)
	}
	if errors.Is(err, errAccountFull) {
		return s.quotas.errAccount().WithCause(err)
	}
	return err
}

// secretOrNew returns the secret of a request. If the request has none, it generates one and also returns it as
// generated.
func secretOrNew(requested *string) (secret, generated string) {
	if requested != nil {
		return *requested, ""
	}
	generated = signature.NewSecret()
	return generated, generated
}

// ListWebhooks returns a page of the webhooks of a workspace in the order in which they were created, and the cursor of
// the next page. If workspaceID is "", it lists the webhooks of all workspaces in which the caller may manage webhooks.
// It makes two calls to storage, and then one query for each workspace, concurrently.
func (s *Service) ListWebhooks(
	ctx context.Context, caller httpapi.Caller, workspaceID string, page httpapi.PageInput,
) ([]WebhookItem, string, error) {
	scope := httpapi.ListScope(caller, "webhooks", workspaceID)
	after, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	workspaces, err := s.workspacesToManage(ctx, caller, workspaceID)
	if err != nil {
		return nil, "", err
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
		return nil, "", err
	}
	all := slices.Concat(found...)
	slices.SortFunc(all, func(a, b delivery.Webhook) int { return cmp.Compare(a.ID, b.ID) })
	items := []WebhookItem{}
	for _, w := range all {
		if w.ID > after {
			items = append(items, webhookItem(w))
		}
	}
	return httpapi.CutPage(ctx, s.cursors, scope, items, page.Limit, func(item WebhookItem) string { return item.ID })
}

// webhookFor reads a webhook with which the caller may do an action. Errors: errNoWebhook, workspace.ErrDenied,
// workspace.ErrReadOnly.
func (s *Service) webhookFor(
	ctx context.Context, caller httpapi.Caller, webhookID string, action workspace.Action,
) (w delivery.Webhook, err error) {
	err = s.readIfAllowed(ctx, caller, webhookID, action, func(workspaceID string) (err error) {
		w, err = s.store.Webhook(ctx, workspaceID, webhookID)
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return w, errNoWebhook
	}
	return w, err
}

// workspacesToManage returns workspaceID if the caller may manage the webhooks of this workspace, otherwise an error.
// If workspaceID is "", it returns the IDs of all workspaces in which the caller may manage webhooks.
func (s *Service) workspacesToManage(ctx context.Context, caller httpapi.Caller, workspaceID string) ([]string, error) {
	if workspaceID != "" {
		return []string{workspaceID}, s.checkWorkspace(ctx, caller, workspaceID, workspace.ReadWebhooks)
	}
	members, err := s.access.Memberships(ctx, caller.UserID)
	if err == nil {
		members = slices.DeleteFunc(members, func(m workspace.Membership) bool {
			return !m.Role.May(workspace.ManageWebhooks)
		})
		members, err = s.access.Complete(ctx, members)
	}
	ids := make([]string, len(members))
	for i, member := range members {
		ids[i] = member.WorkspaceID
	}
	return ids, err
}

// UpdateWebhook changes the settings of a webhook. A caller who activates the webhook becomes its creator. generated is
// the new secret if the service generated it, otherwise "". If nothing changes, nothing is written.
func (s *Service) UpdateWebhook(
	ctx context.Context, caller httpapi.Caller, webhookID string, in Settings,
) (w delivery.Webhook, generated string, err error) {
	if in.URL != nil {
		if err := checkURL(*in.URL, s.allowPrivate); err != nil {
			return w, "", err
		}
	}
	secret := ""
	if in.Secret.Present {
		secret, generated = secretOrNew(in.Secret.Value)
	}
	err = db.Retry(ctx, "update webhook", func(ctx context.Context) error {
		if w, err = s.webhookFor(ctx, caller, webhookID, workspace.ManageWebhooks); err != nil {
			return err
		}
		next, changed := in.applyTo(w, s.now())
		if in.Secret.Present {
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
	return w, generated, err
}

// DeleteWebhook deletes a webhook, even if it cannot be decoded. Pending deliveries of the fast lane fail when they are
// due, because the webhook no longer exists. Pending deliveries of the slow lane are not attempted. All stored
// deliveries expire as usual.
func (s *Service) DeleteWebhook(ctx context.Context, caller httpapi.Caller, webhookID string) error {
	var workspaceID string
	err := s.readIfAllowed(ctx, caller, webhookID, workspace.ManageWebhooks, func(found string) error {
		workspaceID = found
		return nil
	})
	if err != nil {
		return err
	}
	err = s.store.delete(ctx, workspaceID, webhookID)
	if errors.Is(err, db.ErrNotFound) {
		return errNoWebhook.WithCause(err)
	}
	return err
}
