package assistant

import (
	"context"
	"strings"
	"time"

	"devplatform/shared/assistant/conversation"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
	"devplatform/shared/async"
)

// A prompt contains the latest turns, and a summary that replaces the older turns. If the turns after the summary are
// many or long, the model summarizes the older half of them while it generates the next answer.

const (
	// summaryTurns is the number of turns after which a summary is due, even if the turns are short. It must be less
	// than the number of turns that Recall reads.
	summaryTurns = 8
	// maxSummary is the maximum length of a summary in tokens.
	maxSummary = 512
)

// summary replaces all messages up to and including upTo. Its text is "" if no summary was generated.
type summary struct {
	text, upTo string
	usage      model.Usage
}

// isSummaryDue reports whether the turns are so many or so long that the older half should be summarized.
func isSummaryDue(m conversation.Memory) bool {
	tokens := 0
	for _, t := range m.Turns {
		tokens += prompt.TokensOf(t.Question.Content) + prompt.TokensOf(t.Answer.Content)
	}
	return len(m.Turns) >= summaryTurns || (len(m.Turns) > 1 && tokens > prompt.DefaultBudget().History*3/4)
}

// summaryRequest returns the request for a summary of the older half of the turns, and the ID of the last message
// that the summary covers.
func summaryRequest(m conversation.Memory) (model.Request, string) {
	older := m.Turns[:(len(m.Turns)+1)/2]
	return prompt.Summarize(m.Summary, promptTurns(older), maxSummary), older[len(older)-1].Answer.ID
}

// startSummary starts to generate a summary in the background. If that fails, the next turn generates it. wait waits
// for the summary. If the summary is not ready after SummaryWait, wait cancels it. If the answer is not complete, wait
// cancels it immediately.
func (t *turn) startSummary(ctx context.Context) (wait func() summary) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan summary, 1)
	var s summary
	async.Go(func() error {
		request, upTo := summaryRequest(t.memory)
		var a answer
		err := t.callModel(ctx, t.reservation, request, &a)
		s.usage = a.usage
		if err == nil {
			s.text, s.upTo = strings.TrimSpace(a.text.String()), upTo
		}
		return err
	}, func(err error) {
		if err != nil {
			t.logger.WarnContext(ctx, "the summary was not generated",
				"messageId", t.reservation.MessageID, "cause", err.Error())
		}
		done <- s
	})
	return func() summary {
		defer cancel()
		var limit time.Duration
		if t.cause == nil {
			limit = t.limits.SummaryWait
		}
		timer := async.AfterFunc(limit, cancel)
		defer timer.Stop()
		return <-done
	}
}

// promptTurns converts stored turns to turns of a prompt.
func promptTurns(turns []conversation.Turn) []prompt.Turn {
	var all []prompt.Turn
	for _, t := range turns {
		m := prompt.Turn{User: t.Question.Content, Assistant: t.Answer.Content}
		for _, a := range t.Answer.Actions {
			m.Actions = append(m.Actions, a.Brief())
		}
		all = append(all, m)
	}
	return all
}

// saveSummary stores a summary. If this fails, a later turn generates the summary again.
func (t *turn) saveSummary(ctx context.Context, s summary) {
	exists := t.access.ProjectExists(t.in.Body.ProjectID)
	err := t.conversations.SaveSummary(ctx, t.in.Body.ProjectID, t.memory, s.text, s.upTo, exists)
	if err != nil {
		t.logger.WarnContext(ctx, "the summary was not stored", "messageId", t.reservation.MessageID, "cause", err.Error())
	}
}
