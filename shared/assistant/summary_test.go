package assistant

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/shared/assistant/model"
)

// A summary that hangs, panics or fails does not affect the answer, and the next prompt contains no summary.
func TestFailingSummaries(t *testing.T) {
	t.Parallel()
	unavailable := &model.Error{Fault: model.Unavailable, Cause: errors.New("unavailable")}
	for name, tc := range map[string]struct {
		summary, answer fakeResponse
		summaryWait     time.Duration
		wantStatus      int
	}{
		"hanging summary": {
			summary:     newResponse("The").withWait(make(chan struct{})),
			answer:      newResponse("Fine."),
			summaryWait: 20 * time.Millisecond,
			wantStatus:  http.StatusOK,
		},
		"hanging summary and failed answer": {
			summary:     newResponse("The").withWait(make(chan struct{})),
			answer:      newResponse().withError(unavailable),
			summaryWait: time.Hour, // a failed answer does not wait for the summary
			wantStatus:  http.StatusServiceUnavailable,
		},
		"panicking summary": {
			summary:     newResponse("The").withFunc(func() { panic("test") }),
			answer:      newResponse("Fine."),
			summaryWait: 20 * time.Millisecond,
			wantStatus:  http.StatusOK,
		},
		"failed summary with partial output": {
			summary:     newResponse("The").withError(unavailable),
			answer:      newResponse("Fine."),
			summaryWait: 20 * time.Millisecond,
			wantStatus:  http.StatusOK,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, withLimits(func(l *Limits) { l.SummaryWait = tc.summaryWait }))
			ada := f.newUser("ada")
			projectID := ada.newProject()
			for range summaryTurns { // a summary is due after these turns
				ada.chat(projectID, "Question").Want(t, http.StatusOK)
			}
			f.model.enqueue(model.TaskSummarize, tc.summary)
			f.model.enqueue(model.TaskChat, tc.answer)
			ada.chat(projectID, "Another question").Want(t, tc.wantStatus)
			ada.chat(projectID, "The last question").Want(t, http.StatusOK)
			requests := f.model.requests()
			if text := fmt.Sprint(requests[len(requests)-1].Messages); strings.Contains(text, " conversation before>") {
				t.Errorf("got a prompt with a summary, want none: %s", text)
			}
		})
	}
}

// If too few tokens remain for an answer and a summary, no summary is generated.
func TestNoSummaryWithoutTokens(t *testing.T) {
	t.Parallel()
	// After summaryTurns answers with 2,000 tokens each, 10,000 tokens remain. This is enough for a short answer, but
	// less than the turn reserves for an answer, its repair and a summary.
	f := newFixture(t, withLimits(func(l *Limits) { l.MonthlyTokens = 26_000 }))
	ada := f.newUser("ada")
	projectID := ada.newProject()
	outcome := model.Outcome{Stop: model.StopEnd, Usage: model.Usage{Input: 1000, Output: 1000}}
	for range summaryTurns {
		f.model.enqueue(model.TaskChat, newResponse("Yes.").withOutcome(outcome))
		ada.chat(projectID, "Question").Want(t, http.StatusOK)
	}
	ada.chat(projectID, "Another question").Want(t, http.StatusOK)
	requests := f.model.requests()
	if limit := requests[len(requests)-1].MaxOutput; limit >= maxOutput {
		t.Errorf("got an answer of at most %d tokens, want fewer than %d: only the reserved ones", limit, maxOutput)
	}
	for _, request := range requests {
		if request.Task == model.TaskSummarize {
			t.Error("got a request for a summary, want none")
		}
		text := request.Messages[len(request.Messages)-1].Text
		if want := fmt.Sprintf("answer: %d tokens\n", request.MaxOutput); !strings.Contains(text, want) {
			t.Errorf("got the prompt %.300q, want %q in it", text, want)
		}
	}
}
