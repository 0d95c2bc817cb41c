package assistant

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/fault"
	"devplatform/shared/project"
)

func TestModelErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	stored := 0 // turns
	for _, c := range []struct {
		fault  model.Fault
		after  time.Duration
		status int
		code   fault.Code
		retry  string
	}{
		{model.Unavailable, 0, 503, fault.CodeAIUnavailable, "5"},
		{model.Unavailable, 1500 * time.Millisecond, 503, fault.CodeAIUnavailable, "2"},
		{model.Refused, 0, 422, fault.CodeAIRefused, ""},
		{model.Misconfigured, 0, 500, fault.CodeInternal, ""},
		{model.TooLong, 0, 400, fault.CodeValidationFailed, ""},
	} {
		err := &model.Error{Fault: c.fault, RetryAfter: c.after, Cause: errors.New("the provider's own words")}
		for _, said := range []string{"", "Half of"} {
			var parts []string
			if said != "" {
				parts = append(parts, said)
			}
			w.model.play(model.TaskChat, says(parts...).failing(err))
			if c.fault == model.TooLong && said == "" {
				w.model.play(model.TaskChat, says().failing(err))
			}
			got := ada.chat(projectID, "Hello?").Want(t, c.status, c.code)
			if got.Header.Get("Retry-After") != c.retry || strings.Contains(got.Raw, "own words") {
				t.Errorf("%s: %v %s", c.fault, got.Header, got.Raw)
			}
			if said != "" {
				stored++
			}
			messages := ada.history(projectID)
			if len(messages) != 2*stored {
				t.Fatalf("%s after %q: %d messages", c.fault, said, len(messages))
			}
			if last := len(messages) - 1; said != "" && (messages[last]["status"] != "interrupted" || messages[last]["content"] != said) {
				t.Errorf("%v", messages[last])
			}
		}
		w.model.play(model.TaskGenerate, says("Half of").failing(err))
		ada.Do(http.MethodPost, "/api/ai/generate", object{"prompt": "Hello?"}).Want(t, c.status, c.code)
	}
	w.model.play(model.TaskChat, says())
	ada.chat(projectID, "Hello?").Want(t, http.StatusServiceUnavailable, fault.CodeAIUnavailable)
	if got := ada.Get("/api/ai/usage").Want(t, http.StatusOK); got.Body["reservedTokens"] != 0.0 {
		t.Errorf("%s", got.Raw)
	}
}

func TestTimeLimits(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(*Limits){
		"time":    func(l *Limits) { l.Generation = 50 * time.Millisecond },
		"silence": func(l *Limits) { l.Silence = 50 * time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, withLimits(limit))
			ada := w.user("ada")
			projectID := ada.project("", project.Private)
			w.model.play(model.TaskChat, says("Well").waiting(make(chan struct{})))
			ada.chat(projectID, "Hello?").Want(t, http.StatusServiceUnavailable, fault.CodeAIUnavailable)
			if messages := ada.history(projectID); len(messages) != 2 || messages[1]["status"] != "interrupted" {
				t.Errorf("%v", messages)
			}
		})
	}
}

// An answer that does not end is cut off at the maximum size of a message.
func TestTooLongAnswerIsCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	var parts []string
	for range 500 {
		parts = append(parts, strings.Repeat("\"\x00", 512))
	}
	w.model.play(model.TaskChat, says(parts...))
	got := ada.chat(projectID, "Go on.").Want(t, http.StatusOK)
	if n := len(got.Text("response")); n > maxAnswer || n < maxAnswer/2-2048 || strings.Contains(got.Text("response"), "\x00") || !strings.Contains(got.Text("response"), "cut off here") {
		t.Errorf("%d bytes", n)
	}
	if len(ada.history(projectID)) != 2 {
		t.Error("the answer was not stored")
	}
}
