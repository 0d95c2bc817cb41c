package assistant

import (
	"context"
	"strings"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
	"devplatform/shared/fault"
)

// A model is told the latest turns word for word and, in place of those before, a note. Once the turns behind the note have become
// many or long, their older half is put into the next one beside the answer that is being made, before any of them is left out.

const (
	// manyTurns is when a note is due, however short the turns are; recall brings more than that.
	manyTurns = 8
	// maxNote is the length of a note, in tokens.
	maxNote = 512
)

// note is what takes the place of old turns: in place of those up to a message. The zero note is none.
type note struct {
	text, upTo string
	used       model.Usage
}

// isLong reports whether a note is due.
func (m memory) isLong() bool {
	long := 0
	for _, t := range m.turns {
		long += prompt.TokensOf(t.question.Content) + prompt.TokensOf(t.answer.Content)
	}
	return len(m.turns) >= manyTurns || (len(m.turns) > 1 && long > prompt.DefaultBudget().History*3/4)
}

// older is the request for a note about the older half of the turns, and the last message that it is about.
func (m memory) older() (model.Request, string) {
	half := m.turns[:(len(m.turns)+1)/2]
	var told []model.Turn
	for _, t := range half {
		told = append(told, t.told())
	}
	return prompt.Summarize(m.summary, told, maxNote), half[len(half)-1].answer.ID
}

// noteTokens is what a note takes.
func noteTokens(m memory) int {
	request, _ := m.older()
	return prompt.Tokens(request) + maxNote
}

// beginNote has the model write a note in the background. What it answers with waits for that, a while if the answer is complete. A note
// that fails is due again with the next turn.
func (s *Service) beginNote(ctx context.Context, r reservation, m memory) func(complete bool) note {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan note, 1)
	go func() {
		var n note
		err := fault.Recover(func() error {
			n = s.writeNote(ctx, r, m)
			return nil
		})
		if err != nil {
			s.logger.ErrorContext(ctx, "a note was not written", "messageId", r.messageID, "cause", err.Error())
		}
		done <- n
	}()
	return func(complete bool) note {
		defer cancel()
		if complete {
			select {
			case n := <-done:
				return n
			case <-time.After(s.limits.NotePatience):
			}
		}
		cancel()
		return <-done
	}
}

// writeNote has the model write a note; its text is empty if that fails.
func (s *Service) writeNote(ctx context.Context, r reservation, m memory) note {
	request, upTo := m.older()
	n := note{upTo: upTo}
	var text strings.Builder
	outcome, err := s.ask(ctx, r, request, func(p model.Part) error {
		if p.Kind == model.Text {
			text.WriteString(clean(p.Text))
		}
		return nil
	})
	n.used = outcome.Usage
	if err != nil {
		s.logger.WarnContext(ctx, "a note was not written", "messageId", r.messageID, "cause", err.Error())
		return n
	}
	n.text = strings.TrimSpace(text.String())
	return n
}

// keepNote stores a note. That it can't be stored is no reason to fail the answer.
func (s *Service) keepNote(ctx context.Context, projectID string, before memory, n note) {
	if n.text == "" {
		return
	}
	if err := s.remember(ctx, projectID, before, n.text, n.upTo); err != nil {
		s.logger.WarnContext(ctx, "a note was not stored", "cause", err.Error())
	}
}
