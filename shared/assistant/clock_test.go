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

// jump has the service taken over by a process whose clock is so much ahead of, or behind, the one before it.
func (w *world) jump(by time.Duration) {
	w.clock.Advance(by)
	w.ids = id.NewGenerator(w.clock.Now, rand.Reader)
	w.serve(w.sdk)
}

// told are the contents of a conversation.
func told(b *browser, projectID string) string {
	var contents []any
	for _, m := range b.history(projectID) {
		contents = append(contents, m["content"])
	}
	return fmt.Sprint(contents)
}

// A clock that was ahead, be it by a month, is put right: conversations go on in their order, and what is cleared is gone.
func TestConversationsWhenTheClockGoesBack(t *testing.T) {
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
			if got := told(ada, projectID); got != fmt.Sprint([]any{"first", greeting, "second", greeting, "third", greeting}) {
				t.Errorf("the conversation reads %s", got)
			}
			if got := w.model.asked()[2].Messages; len(got) != 5 {
				t.Errorf("the third question came with %d messages", len(got))
			}
			ada.Do(http.MethodDelete, "/api/ai/conversations/"+projectID, nil).Want(t, http.StatusOK)
			if got := told(ada, projectID); got != "[]" {
				t.Errorf("after it was cleared it reads %s", got)
			}
			w.jump(-by)
			ada.chat(projectID, "fourth").Want(t, http.StatusOK)
			if got := told(ada, projectID); got != fmt.Sprint([]any{"fourth", greeting}) {
				t.Errorf("what was said after it was cleared reads %s", got)
			}
		})
	}
}

// A month that the clock was in by mistake counts for itself; the right one goes on where it was. What began in one month and ends in
// another is given back to the one that it was taken from.
func TestQuotasWhenTheClockJumps(t *testing.T) {
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
		t.Errorf("back again: %v, before: %v", m, before)
	}
	if status := ask(); status != http.StatusOK {
		t.Errorf("the second call of the minute: %d", status)
	}
	ada.Do(http.MethodPost, "/api/ai/generate", object{"prompt": "Hello?"}).Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)

	w.jump(time.Minute)
	r := w.reservation(ada.userID, 1000)
	w.must(w.service.reserve(t.Context(), r))
	w.jump(-20 * 24 * time.Hour) // into the month before
	w.must(w.service.settle(t.Context(), r, usage{}))
	w.jump(20 * 24 * time.Hour)
	if m := month(); m["reservedTokens"] != 0.0 {
		t.Errorf("what was set aside before the jump was not given back: %v", m)
	}
}
