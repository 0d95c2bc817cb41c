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

// pendingSummary is a summary that is generated in the background.
type pendingSummary struct {
	done   chan summary
	cancel context.CancelFunc
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
	return prompt.Summarize(m.Summary, modelTurns(older), maxSummary), older[len(older)-1].Answer.ID
}

// startSummary starts to generate a summary in the background, if tokens were reserved for it. If that fails, the next
// turn generates it.
func (t *turn) startSummary(ctx context.Context) {
	if t.pendingSummary == nil {
		return
	}
	ctx, t.pendingSummary.cancel = context.WithCancel(ctx)
	t.pendingSummary.done = make(chan summary, 1)
	var s summary
	async.Go(func() error {
		request, upTo := summaryRequest(t.memory)
		var a answer
		err := t.callModel(ctx, t.reservation, request, &a)
		if s.usage = a.usage; err == nil {
			s.text, s.upTo = strings.TrimSpace(a.text.String()), upTo
		}
		return err
	}, func(err error) {
		if err != nil {
			t.logger.WarnContext(ctx, "the summary was not generated",
				"messageId", t.reservation.MessageID, "cause", err.Error())
		}
		t.pendingSummary.done <- s
	})
}

// modelTurns converts stored turns to turns of a prompt.
func modelTurns(turns []conversation.Turn) []prompt.Turn {
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

// awaitSummary waits for the summary and adds its usage to the answer. If the summary is not ready after SummaryWait,
// awaitSummary cancels it. If the answer is not complete, it cancels the summary immediately.
func (t *turn) awaitSummary() {
	if t.pendingSummary == nil {
		return
	}
	defer t.pendingSummary.cancel()
	wait := time.Duration(0)
	if t.cause == nil {
		wait = t.limits.SummaryWait
	}
	timer := async.AfterFunc(wait, t.pendingSummary.cancel)
	defer timer.Stop()
	t.summary = <-t.pendingSummary.done
	t.answer.addUsage(t.summary.usage)
}

// saveSummary stores the summary, if there is one. If this fails, a later turn generates the summary again.
func (t *turn) saveSummary(ctx context.Context) {
	if t.summary.text == "" {
		return
	}
	exists := t.access.ProjectExists(t.in.Body.ProjectID)
	err := t.conversations.SaveSummary(ctx, t.in.Body.ProjectID, t.memory, t.summary.text, t.summary.upTo, exists)
	if err != nil {
		t.logger.WarnContext(ctx, "the summary was not stored", "messageId", t.reservation.MessageID, "cause", err.Error())
	}
}
