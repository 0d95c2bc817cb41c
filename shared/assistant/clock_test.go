package assistant

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"devplatform/shared/fault"
	"devplatform/shared/id"
)

// jumpClock moves the clock by the given duration, which may be negative, and replaces the services with new ones.
func (f *fixture) jumpClock(by time.Duration) {
	f.clock.Advance(by)
	f.ids = id.NewGenerator(f.clock.Now, rand.Reader)
	f.startServices(f.sdk)
}

// checkConversation checks the contents of a conversation's messages.
func (u *user) checkConversation(projectID string, want ...string) {
	u.f.t.Helper()
	got := []string{}
	for _, message := range u.messages(projectID) {
		got = append(got, fmt.Sprint(message["content"]))
	}
	if !slices.Equal(got, want) {
		u.f.t.Errorf("got messages %q, want %q", got, want)
	}
}

// When a clock that was ahead is corrected, conversations keep their order, and cleared messages stay hidden.
func TestConversationAfterClockGoesBack(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{time.Second, time.Hour, 24 * time.Hour, 40 * 24 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ada := f.newUser("ada")
			projectID := ada.newProject()
			f.jumpClock(by)
			ada.chat(projectID, "first").Want(t, http.StatusOK)
			f.jumpClock(-by)
			ada.chat(projectID, "second").Want(t, http.StatusOK)
			ada.chat(projectID, "third").Want(t, http.StatusOK)
			ada.checkConversation(projectID, "first", "Hello.", "second", "Hello.", "third", "Hello.")
			if n := len(f.model.requests()[2].Messages); n != 5 {
				t.Errorf("got %d messages in the third request, want 5", n)
			}
			ada.Do(http.MethodDelete, conversationURL(projectID), nil).Want(t, http.StatusOK)
			ada.checkConversation(projectID)
			f.jumpClock(-by)
			ada.chat(projectID, "fourth").Want(t, http.StatusOK)
			ada.checkConversation(projectID, "fourth", "Hello.")
		})
	}
}

// A call counts in the month that the clock shows. When a reservation is settled, the unused tokens become available in
// the month in which they were reserved, even if the clock shows another month.
func TestQuotaAfterClockJumps(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.CallsPerMinute = 2 }))
	ada := f.newUser("ada")
	usage := func() map[string]any { return ada.Get(usageURL).Want(t, http.StatusOK).Body }
	ada.generate("Hello?")
	before := usage()
	f.jumpClock(31 * 24 * time.Hour)
	if u := usage(); u["calls"] != 0.0 || u["totalTokens"] != 0.0 || u["reservedTokens"] != 0.0 {
		t.Errorf("a month later: got usage %v, want zero", u)
	}
	ada.generate("Hello?")
	f.jumpClock(-31 * 24 * time.Hour)
	if after := usage(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("after the clock went back: got usage %v, want %v", after, before)
	}
	if status := ada.generate("Hello?").Status; status != http.StatusOK {
		t.Errorf("second call of the minute: got status %d, want 200", status)
	}
	ada.generate("Hello?").Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)

	f.jumpClock(time.Minute)
	r := f.reserve(f.newReservation(ada.id, 1000))
	f.jumpClock(-20 * 24 * time.Hour) // to the previous month
	f.must(f.settle(r, 0, 0))
	f.jumpClock(20 * 24 * time.Hour)
	if reserved := usage()["reservedTokens"]; reserved != 0.0 {
		t.Errorf("got %v reserved tokens after the settlement, want 0", reserved)
	}
}
