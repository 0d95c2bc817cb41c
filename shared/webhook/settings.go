package webhook

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/sender"
)

var (
	errNoWebhook = fault.New(fault.CodeWebhookNotFound,
		"The webhook does not exist, or you do not have access to it.")
	errNoDelivery = fault.New(fault.CodeDeliveryNotFound,
		"The delivery does not exist, or it has expired. List the deliveries of the webhook to see all IDs.")
	errInactive       = fault.New(fault.CodeConflict, "The webhook is not active. Activate it first.")
	errOtherWorkspace = fault.Invalid(fault.Field("workspaceId", "must be the workspace of the project, or be absent"))
	errFull           = fault.New(fault.CodeQuotaExceeded,
		"The workspace has reached its limit of "+strconv.Itoa(maxWebhooks)+" webhooks. Delete one first.")
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
	newURL, newEndpoint := false, false
	if in.URL != nil && *in.URL != w.URL {
		newURL, newEndpoint = true, !sameHost(*in.URL, w.URL)
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
		newEndpoint = newEndpoint || w.Active
	}
	if newURL || newEndpoint {
		w.Generation++
		w.Prompt = false
		if w.Active {
			w.DisabledReason = ""
		}
	}
	if newEndpoint {
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

// sameHost reports whether two URLs have the same host and port. Both URLs are valid.
func sameHost(a, b string) bool {
	first, err1 := url.Parse(a)
	second, err2 := url.Parse(b)
	return err1 == nil && err2 == nil && strings.EqualFold(first.Host, second.Host)
}

// withRevision returns the next revision of a changed webhook.
func withRevision(w delivery.Webhook, now time.Time) delivery.Webhook {
	w.Revision++
	w.UpdatedAt = clock.Stamp(now)
	return w
}

// checkURL returns a VALIDATION_FAILED error if the service may not deliver to the URL.
func checkURL(url string, allowPrivate bool) error {
	if err := sender.CheckURL(url, allowPrivate); err != nil {
		return fault.Invalid(fault.Field("url", err.Error()))
	}
	return nil
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
