package webhook

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/shared/clock"
	"devplatform/shared/webhook/delivery"
)

var someSettings = rapid.Custom(func(t *rapid.T) Settings {
	optional := func(name string, values ...string) *string {
		return rapid.Ptr(rapid.SampledFrom(values), true).Draw(t, name)
	}
	in := Settings{URL: optional("url", "https://a.example", "https://b.example"), Description: optional("description", "", "x")}
	in.Active = rapid.Ptr(rapid.Bool(), true).Draw(t, "active")
	in.Events = rapid.SampledFrom([][]string{nil, {"*"}, {"file.*", "project.created"}}).Draw(t, "events")
	return in
})

var someWebhook = rapid.Custom(func(t *rapid.T) delivery.Webhook {
	w := delivery.Webhook{
		URL: "https://a.example", Events: []string{"*"}, Active: rapid.Bool().Draw(t, "active"), Generation: 3, Revision: 7, Secret: "sealed",
	}
	if !w.Active {
		w.DisabledReason = rapid.SampledFrom([]string{"", "gone"}).Draw(t, "reason")
	}
	at := clock.Stamp(noon)
	w.Health = delivery.Health{Timeouts: rapid.IntRange(0, 3).Draw(t, "timeouts"), Failures: 2, FailingSince: &at, LastAt: &at, LastStatus: delivery.Failed, ProbeUntil: &at}
	return w
})

// Requested settings are applied, others are kept, and applying them again changes nothing.
func TestSettingsAreApplied(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, in := someWebhook.Draw(t, "webhook"), someSettings.Draw(t, "settings")
		before := w
		next, changed := in.applied(w)
		if diff := cmp.Diff(before, w); diff != "" {
			t.Fatal("the webhook itself was changed", diff)
		}
		if changed == cmp.Equal(w, next) {
			t.Fatalf("changed: %t, %s", changed, cmp.Diff(w, next))
		}
		if again, changes := in.applied(next); changes || !cmp.Equal(again, next) {
			t.Fatal("applying the settings again changes the webhook")
		}
		url, active := w.URL, w.Active
		if in.URL != nil {
			url = *in.URL
		}
		if in.Active != nil {
			active = *in.Active
		}
		if next.URL != url || next.Active != active || in.Events != nil && !slices.Equal(next.Events, in.Events) || next.Secret != w.Secret {
			t.Fatalf("%+v", next)
		}
		another := url != w.URL || active && !w.Active
		if (next.Generation == w.Generation+1) != another || another && (next.Failures != 0 || next.Timeouts != 0 || next.ProbeUntil != nil) {
			t.Fatalf("another endpoint: %t, %+v", another, next)
		}
		reason := w.DisabledReason // a webhook that the service disabled stays disabled until it is activated
		if active {
			reason = ""
		}
		if next.DisabledReason != reason {
			t.Fatalf("disabled: %q, want %q", next.DisabledReason, reason)
		}
		if !another && !cmp.Equal(next.Health, w.Health) || next.LastAt != w.LastAt {
			t.Fatalf("%+v", next)
		}
	})
}

func TestUniqueEvents(t *testing.T) {
	t.Parallel()
	if got := unique([]pattern{"file.*", "*", "file.*", "*", "file.created"}); !slices.Equal(got, []string{"file.*", "*", "file.created"}) {
		t.Error(got)
	}
	if unique(nil) != nil {
		t.Error("unique(nil) is not nil")
	}
}
