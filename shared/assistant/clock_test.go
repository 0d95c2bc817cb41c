package assistant

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"testing"
	"time"

	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/project"
)

// jump replaces the service with one whose clock is ahead by a duration, or behind if the duration is negative.
func (w *world) jump(by time.Duration) {
	w.clock.Advance(by)
	w.ids = id.NewGenerator(w.clock.Now, rand.Reader)
	w.serve(w.sdk)
}

// contents returns the contents of a conversation's messages.
func contents(b *browser, projectID string) string {
	var all []any
	for _, m := range b.history(projectID) {
		all = append(all, m["content"])
	}
	return fmt.Sprint(all)
}

// After a clock that was ahead is corrected, conversations keep their order, and cleared messages stay deleted.
func TestConversationAfterClockGoesBack(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{time.Second, time.Hour, 24 * time.Hour, 40 * 24 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ada := w.user("ada")
			projectID := ada.project("", project.Private)
			w.jump(by)
			ada.chat(projectID, "first").Want(t, http.StatusOK)
			w.jump(-by)
			ada.chat(projectID, "second").Want(t, http.StatusOK)
			ada.chat(projectID, "third").Want(t, http.StatusOK)
			const greeting = "Hello."
			if got := contents(ada, projectID); got != fmt.Sprint([]any{"first", greeting, "second", greeting, "third", greeting}) {
				t.Errorf("the conversation is %s", got)
			}
			if got := w.model.requests()[2].Messages; len(got) != 5 {
				t.Errorf("the request for the third question has %d messages", len(got))
			}
			ada.Do(http.MethodDelete, "/api/ai/conversations/"+projectID, nil).Want(t, http.StatusOK)
			if got := contents(ada, projectID); got != "[]" {
				t.Errorf("after the clear, the conversation is %s", got)
			}
			w.jump(-by)
			ada.chat(projectID, "fourth").Want(t, http.StatusOK)
			if got := contents(ada, projectID); got != fmt.Sprint([]any{"fourth", greeting}) {
				t.Errorf("the messages after the clear are %s", got)
			}
		})
	}
}

// Calls in a wrong month do not count in the right one. A reservation is returned to the month from which it was taken.
func TestQuotaAfterClockJumps(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute = 2 }))
	ada := w.user("ada")
	ask := func() int { return ada.Do(http.MethodPost, "/api/ai/generate", object{"prompt": "Hello?"}).Status }
	month := func() map[string]any { return ada.Get("/api/ai/usage").Want(t, http.StatusOK).Body }
	ask()
	before := month()
	w.jump(31 * 24 * time.Hour)
	if m := month(); m["calls"] != 0.0 || m["totalTokens"] != 0.0 || m["reservedTokens"] != 0.0 {
		t.Errorf("a month later: %v", m)
	}
	ask()
	w.jump(-31 * 24 * time.Hour)
	if m := month(); fmt.Sprint(m) != fmt.Sprint(before) {
		t.Errorf("after the jump back: %v, before: %v", m, before)
	}
	if status := ask(); status != http.StatusOK {
		t.Errorf("the second call of the minute: %d", status)
	}
	ada.Do(http.MethodPost, "/api/ai/generate", object{"prompt": "Hello?"}).Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)

	w.jump(time.Minute)
	r := w.reservation(ada.userID, 1000)
	w.must(w.reserve(r))
	w.jump(-20 * 24 * time.Hour) // into the month before
	w.must(w.settle(r, 0, 0))
	w.jump(20 * 24 * time.Hour)
	if m := month(); m["reservedTokens"] != 0.0 {
		t.Errorf("the reservation from before the jump was not returned: %v", m)
	}
}
