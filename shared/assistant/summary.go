package assistant

import (
	"context"
	"strings"
	"time"

	"devplatform/shared/assistant/conversation"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
	"devplatform/shared/fault"
)

// The model sees the latest turns word for word, and a summary in place of the older ones. When the turns after the
// summary have become many or long, the model summarizes their older half, while it generates the next answer.

const (
	// summaryTurns is the number of turns after which a summary is due, however short they are. Recall reads more turns
	// than that.
	summaryTurns = 8
	// maxSummary is the length of a summary in tokens.
	maxSummary = 512
)

// summary stands for all messages up to one. Its text is "" if there is none.
type summary struct {
	text, upTo string
	used       model.Usage
}

// summarizing is a summary that is written in the background.
type summarizing struct {
	done   chan summary
	cancel context.CancelFunc
}

// summaryIsDue reports whether the turns should be summarized.
func summaryIsDue(m conversation.Memory) bool {
	tokens := 0
	for _, t := range m.Turns {
		tokens += prompt.TokensOf(t.Question.Content) + prompt.TokensOf(t.Answer.Content)
	}
	return len(m.Turns) >= summaryTurns || (len(m.Turns) > 1 && tokens > prompt.DefaultBudget().History*3/4)
}

// summaryRequest returns the request for a summary of the older half of the turns, and the last message that it covers.
func summaryRequest(m conversation.Memory) (model.Request, string) {
	older := m.Turns[:(len(m.Turns)+1)/2]
	return prompt.Summarize(m.Summary, modelTurns(older), maxSummary), older[len(older)-1].Answer.ID
}

// summaryTokens returns the largest number of tokens that a summary uses.
func summaryTokens(m conversation.Memory) int {
	request, _ := summaryRequest(m)
	return prompt.Tokens(request) + maxSummary
}

// startSummary lets the model write a summary in the background, if one is due.
func (t *turn) startSummary(ctx context.Context) {
	if t.summarizing == nil {
		return
	}
	ctx, t.summarizing.cancel = context.WithCancel(ctx)
	t.summarizing.done = make(chan summary, 1)
	go func() {
		var s summary
		err := fault.Recover(func() (err error) {
			s, err = t.summarize(ctx)
			return err
		})
		if err != nil { // it is due again in the next turn
			t.logger.WarnContext(ctx, "no summary was written", "messageId", t.reserved.MessageID, "cause", err.Error())
		}
		t.summarizing.done <- s
	}()
}

// summarize asks the model for a summary. With an error, only the usage of the summary is set.
func (t *turn) summarize(ctx context.Context) (summary, error) {
	request, upTo := summaryRequest(t.memory)
	var text strings.Builder
	outcome, err := t.callModel(ctx, t.reserved, request, func(p model.Part) error {
		if p.Kind == model.Text {
			text.WriteString(clean(p.Text))
		}
		return nil
	})
	if err != nil {
		return summary{used: outcome.Usage}, err
	}
	return summary{text: strings.TrimSpace(text.String()), upTo: upTo, used: outcome.Usage}, nil
}

// finishSummary takes the summary, and cancels it if it is not finished in time. Only a complete answer waits for it.
func (t *turn) finishSummary() {
	if t.summarizing == nil {
		return
	}
	defer t.summarizing.cancel()
	wait := time.Duration(0)
	if t.cause == nil {
		wait = t.limits.SummaryWait
	}
	timer := time.AfterFunc(wait, t.summarizing.cancel)
	defer timer.Stop()
	t.summary = <-t.summarizing.done
	t.answer.spend(t.summary.used)
}

// saveSummary stores the summary. An error does not fail the answer.
func (t *turn) saveSummary(ctx context.Context) {
	if t.summary.text == "" {
		return
	}
	exists := t.files.ProjectExists(t.question.ProjectID)
	err := t.conversations.SaveSummary(ctx, t.question.ProjectID, t.memory, t.summary.text, t.summary.upTo, exists)
	if err != nil {
		t.logger.WarnContext(ctx, "a summary was not stored", "messageId", t.reserved.MessageID, "cause", err.Error())
	}
}
