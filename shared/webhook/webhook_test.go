package webhook

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/shared/clock"
	"devplatform/shared/webhook/delivery"
)

var settingsGenerator = rapid.Custom(func(t *rapid.T) *webhookSettingsInput {
	optional := func(name string, values ...string) *string {
		return rapid.Ptr(rapid.SampledFrom(values), true).Draw(t, name)
	}
	in := &webhookSettingsInput{}
	in.Body.URL = optional("url", "https://a.example", "https://a.example/b", "https://b.example")
	in.Body.Description = optional("description", "", "x")
	in.Body.Active = rapid.Ptr(rapid.Bool(), true).Draw(t, "active")
	in.Body.Events = rapid.SampledFrom([][]pattern{nil, {"*"}, {"file.*", "project.created"}}).Draw(t, "events")
	return in
})

var webhookGenerator = rapid.Custom(func(t *rapid.T) delivery.Webhook {
	w := delivery.Webhook{
		URL: "https://a.example", Events: []string{"*"}, Active: rapid.Bool().Draw(t, "active"),
		Generation: 3, Revision: 7, Secret: "sealed",
	}
	if !w.Active {
		w.DisabledReason = rapid.SampledFrom([]string{"", "gone"}).Draw(t, "reason")
	}
	at := clock.Stamp(noon)
	w.Health = delivery.Health{
		Prompt: rapid.Bool().Draw(t, "prompt"), Failures: 2, FailingSince: &at, LastAt: &at, LastStatus: delivery.Failed,
	}
	w.NotBefore = &at
	return w
})

// Only the requested settings change. Applying them again changes nothing.
func TestSettingsAreApplied(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, in := webhookGenerator.Draw(t, "webhook"), settingsGenerator.Draw(t, "settings")
		before := w
		next, changed := in.applyTo(w, noon)
		if diff := cmp.Diff(before, w); diff != "" {
			t.Fatalf("applyTo changed its argument:\n%s", diff)
		}
		if changed == cmp.Equal(w, next) {
			t.Fatalf("applyTo reports a change: %t, the difference is:\n%s", changed, cmp.Diff(w, next))
		}
		if again, changes := in.applyTo(next, noon.Add(time.Second)); changes || !cmp.Equal(again, next) {
			t.Fatal("applying the settings again changes the webhook")
		}
		url, active := w.URL, w.Active
		if in.Body.URL != nil {
			url = *in.Body.URL
		}
		if in.Body.Active != nil {
			active = *in.Body.Active
		}
		if next.URL != url || next.Active != active || next.Secret != w.Secret {
			t.Fatalf("got %+v, want url %s, active %t and the same secret", next, url, active)
		}
		if events := unique(in.Body.Events); events != nil && !slices.Equal(next.Events, events) {
			t.Fatalf("got events %v, want %v", next.Events, events)
		}
		newURL, activated := url != w.URL, active && !w.Active
		newEndpoint := newURL && !strings.HasPrefix(url, "https://a.example") || activated
		if newGeneration := next.Generation == w.Generation+1; newGeneration != (newURL || newEndpoint) {
			t.Fatalf("the webhook has a new generation: got %t, want %t", newGeneration, !newGeneration)
		}
		if newEndpoint && (next.Failures != 0 || next.FailingSince != nil || next.NotBefore != nil) {
			t.Fatalf("got health %+v, want the health of a new endpoint", next.Health)
		}
		if (newURL || newEndpoint) && next.Prompt {
			t.Fatal("the endpoint is in the fast lane before it has responded")
		}
		if !newEndpoint && next.Failures != w.Failures {
			t.Fatalf("got %d failures, want %d", next.Failures, w.Failures)
		}
		reason := w.DisabledReason // a webhook that the service disabled stays disabled until it is activated
		if active {
			reason = ""
		}
		if next.DisabledReason != reason {
			t.Fatalf("got DisabledReason %q, want %q", next.DisabledReason, reason)
		}
		if !newURL && !newEndpoint && !cmp.Equal(next.Health, w.Health) || next.LastAt != w.LastAt {
			t.Fatalf("got health %+v, want %+v", next.Health, w.Health)
		}
	})
}
