package webhook

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/webhook/signature"
	"devplatform/shared/workspace"
)

// applyTo returns the webhook after the changes, except a change of the secret. changed reports whether a setting
// changed. A new URL, or an activation, starts a new generation of the endpoint: it has to respond promptly again
// before it is in the fast lane. A URL with another host, or an activation, also resets the series of failures. A
// webhook that the service disabled stays disabled until a user activates it. Until then, its deliveries are stored as
// failed, so that they can be recovered.
func (in *webhookSettingsInput) applyTo(w delivery.Webhook, now time.Time) (_ delivery.Webhook, changed bool) {
	settings, startsGeneration, resetsHealth := in.Body, false, false
	if settings.URL != nil && *settings.URL != w.URL {
		startsGeneration, resetsHealth = true, !haveSameHost(*settings.URL, w.URL)
		w.URL, changed = *settings.URL, true
	}
	if events := unique(settings.Events); events != nil && !slices.Equal(events, w.Events) {
		w.Events, changed = events, true
	}
	if settings.Description != nil && *settings.Description != w.Description {
		w.Description, changed = *settings.Description, true
	}
	if settings.Active != nil && *settings.Active != w.Active {
		w, changed = withActive(w, *settings.Active, now), true
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

// withActive returns the webhook after a user activated or deactivated it.
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

// add stores a new webhook. If the workspace or the account has reached its limit, it deletes the webhooks of deleted
// projects, which do not count, and tries again.
func (s *Service) add(ctx context.Context, w delivery.Webhook) error {
	workspaces, err := s.store.AccountWorkspaces(ctx, w.AccountID)
	if err != nil {
		return err
	}
	account := accountLimit{workspaces: workspaces, webhooks: s.limits.AccountWebhooks}
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
		return s.limits.errAccount().WithCause(err)
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

// workspacesToRead returns workspaceID if the caller may read the webhooks of this workspace, otherwise an error. If
// workspaceID is "", it returns the IDs of all workspaces whose webhooks the caller may read.
func (s *Service) workspacesToRead(ctx context.Context, caller httpapi.Caller, workspaceID string) ([]string, error) {
	if workspaceID != "" {
		return []string{workspaceID}, s.checkWorkspace(ctx, caller, workspaceID, workspace.ReadWebhooks)
	}
	members, err := s.store.Memberships(ctx, caller.UserID)
	if err == nil {
		members = slices.DeleteFunc(members, func(m workspace.Membership) bool {
			return !m.Role.May(workspace.ReadWebhooks)
		})
		members, err = s.store.Complete(ctx, members)
	}
	ids := make([]string, len(members))
	for i, member := range members {
		ids[i] = member.WorkspaceID
	}
	return ids, err
}

// unique returns the patterns of a request without duplicates. It returns nil if the list is empty.
func unique(list []pattern) []string {
	var all []string
	for _, p := range list {
		if !slices.Contains(all, string(p)) {
			all = append(all, string(p))
		}
	}
	return all
}
