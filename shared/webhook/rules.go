package webhook

import (
	"slices"
	"strconv"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/fault"
	"devplatform/shared/webhook/sender"
)

var (
	errNoWebhook  = fault.New(fault.CodeWebhookNotFound, "There is no such webhook.")
	errNoDelivery = fault.New(fault.CodeDeliveryNotFound, "There is no such delivery.")
	errNoProject  = fault.New(fault.CodeProjectNotFound, "There is no such project.")
	errDenied     = fault.New(fault.CodeAccessDenied, "Webhooks are for the admins and owners of a workspace.")
	errInactive   = fault.New(fault.CodeConflict, "The webhook is not active. Activate it first: what failed is sent again then.")
)

func errFull(quota int) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded, "The workspace has its "+strconv.Itoa(quota)+" webhooks. Delete one first.")
}

// settings are what of a webhook its owners can change, its secret apart; nil stays as it is.
type settings struct {
	URL         *string
	Events      []string
	Description *string
	Active      *bool
}

// applied is a webhook with settings, and false if they make no difference. Another url, and a return to active, make it another
// endpoint, of which nothing is known yet. What the service has switched off it goes on to call so until somebody switches it on: until then, what
// happens is kept for a recovery.
func (in settings) applied(w Webhook) (Webhook, bool) {
	changed, another := false, false
	if in.URL != nil && *in.URL != w.URL {
		w.URL, changed, another = *in.URL, true, true
	}
	if in.Events != nil && !slices.Equal(in.Events, w.Events) {
		w.Events, changed = in.Events, true
	}
	if in.Description != nil && *in.Description != w.Description {
		w.Description, changed = *in.Description, true
	}
	if in.Active != nil && *in.Active != w.Active {
		w.Active, changed = *in.Active, true
		another = another || w.Active
	}
	if another {
		w.Generation++
		if w.Active {
			w.DisabledReason = ""
		}
		w.Health = Health{LastAt: w.LastAt, LastStatus: w.LastStatus} // what was, was
	}
	return w, changed
}

// revised is a changed webhook as its next revision.
func (w Webhook) revised(now time.Time) Webhook {
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

// once are the elements of a list, each where it is first.
func once(list []pattern) []string {
	var all []string
	for _, p := range list {
		if !slices.Contains(all, string(p)) {
			all = append(all, string(p))
		}
	}
	return all
}

// recoverable reports whether a recovery sends a delivery again: it has failed, or it waits after an attempt that has. What was
// asked for anew waits without one, so that no recovery sends what another has just sent.
func (d Delivery) recoverable(now time.Time) bool {
	return !d.Test && (d.Status == Failed || d.Status == Pending && d.Tries > 0 && !d.leased(now))
}

// attemptsBy are the attempts that are over: one that is under way has nothing to show yet.
func (d Delivery) attemptsBy(now time.Time) []Attempt {
	return slices.DeleteFunc(slices.Clone(d.Attempts), func(a Attempt) bool {
		return a.Error == sentenceInterrupted && leaseOf(a.At).Time().After(now)
	})
}
