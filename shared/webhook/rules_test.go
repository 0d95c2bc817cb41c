package webhook

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/shared/clock"
)

var someSettings = rapid.Custom(func(t *rapid.T) settings {
	optional := func(name string, values ...string) *string {
		return rapid.Ptr(rapid.SampledFrom(values), true).Draw(t, name)
	}
	in := settings{URL: optional("url", "https://a.example", "https://b.example"), Description: optional("description", "", "x")}
	in.Active = rapid.Ptr(rapid.Bool(), true).Draw(t, "active")
	in.Events = rapid.SampledFrom([][]string{nil, {"*"}, {"file.*", "project.created"}}).Draw(t, "events")
	return in
})

var someWebhook = rapid.Custom(func(t *rapid.T) Webhook {
	w := Webhook{
		URL: "https://a.example", Events: []string{"*"}, Active: rapid.Bool().Draw(t, "active"), Generation: 3, Revision: 7, Secret: "sealed",
	}
	if !w.Active {
		w.DisabledReason = rapid.SampledFrom([]string{"", "gone"}).Draw(t, "reason")
	}
	at := clock.Stamp(noon)
	w.Health = Health{Timeouts: rapid.IntRange(0, 3).Draw(t, "timeouts"), Failures: 2, FailingSince: &at, LastAt: &at, LastStatus: Failed, ProbeUntil: &at}
	return w
})

// What was asked for is so afterwards, what was not stays, and asking again changes nothing.
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
			t.Fatal("not the same when asked for again")
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
		if (next.Generation == w.Generation+1) != another || another && (next.Failures != 0 || next.unhealthy() || next.ProbeUntil != nil) {
			t.Fatalf("another endpoint: %t, %+v", another, next)
		}
		reason := w.DisabledReason // what the service switched off is so until somebody switches it on
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

// What a recovery has sent again, none sends again before it has failed anew; what is over with success, or under way, is left alone.
func TestWhatIsRecovered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		d := Delivery{ID: "dlv_1", Attempts: []Attempt{}, Test: rapid.Bool().Draw(t, "test")}.pending(now, now)
		for _, step := range rapid.SliceOf(rapid.IntRange(0, 5)).Draw(t, "steps") {
			now = now.Add(time.Minute)
			switch step {
			case 0:
				d = succeeded(d, now)
			case 1:
				d = failed(d, now)
			case 2:
				d = underWay(d, now)
			case 3:
				d = waiting(d, now)
			case 4:
				d = unsent(d, now)
			case 5:
				d = d.again(now, rapid.Bool().Draw(t, "manual"))
			}
			want := !d.Test && (step == 1 || step == 3 || step == 4)
			if got := d.recoverable(now); got != want {
				t.Fatalf("step %d: %t, %+v", step, got, d)
			}
			if d.again(now, false).recoverable(now) {
				t.Fatal("sent twice")
			}
			shown := d.attemptsBy(now)
			if under := d.leased(now); under != (len(shown) < len(d.Attempts)) {
				t.Fatalf("%d of %d attempts are shown, leased: %t", len(shown), len(d.Attempts), under)
			}
		}
	})
}

func TestEachEventOnce(t *testing.T) {
	t.Parallel()
	if got := once([]pattern{"file.*", "*", "file.*", "*", "file.created"}); !slices.Equal(got, []string{"file.*", "*", "file.created"}) {
		t.Error(got)
	}
	if once(nil) != nil {
		t.Error("nothing is not nothing")
	}
}
