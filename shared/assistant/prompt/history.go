package prompt

import (
	"fmt"
	"slices"
	"strings"

	"devplatform/shared/assistant/model"
)

const (
	// maxDid is how much is told of what an answer did, in bytes.
	maxDid = 1 << 10
	// turnFrame is more than what a turn takes beside its texts, in bytes: what stands in for an empty one, and the rounding of tokens.
	turnFrame = 64
)

// recent are the latest turns that fit, the oldest first. A turn that would take more than half of the room is cut.
func (c Chat) recent(budget int) []model.Turn {
	room := budget * bytesPerToken
	most := room / 2
	if most < leastShown {
		return nil
	}
	var kept []model.Turn
	for _, t := range slices.Backward(c.Turns) {
		t = shorten(t, most)
		if room -= sizeOf(t); room < 0 {
			break
		}
		kept = append(kept, t)
	}
	slices.Reverse(kept)
	return kept
}

// shorten is a turn of at most so many bytes, if that is possible.
func shorten(t model.Turn, most int) model.Turn {
	t = model.Turn{User: clean(t.User), Assistant: clean(t.Assistant), Did: someOf(t.Did, min(maxDid, most/4))}
	room := most - turnFrame - len(did(t))
	share := shares([]int{len(t.User), len(t.Assistant)}, room)
	t.User, _ = cut(t.User, share[0])
	t.Assistant, _ = cut(t.Assistant, share[1])
	return t
}

// sizeOf is how much a turn takes, in bytes.
func sizeOf(t model.Turn) int { return len(t.User) + len(t.Assistant) + len(did(t)) + turnFrame }

// someOf are as many of the first texts as fit, each on one line; if they don't all, the last one says how many more there were.
func someOf(texts []string, budget int) []string {
	const lastOne = 24
	var some []string
	for i, text := range texts {
		line := oneLine(clean(text))
		if budget -= len(line) + 2; budget < lastOne && i < len(texts)-1 || budget < 0 {
			return append(some, fmt.Sprintf("and %d more", len(texts)-i))
		}
		some = append(some, line)
	}
	return some
}

// did tells the model what its answer did beside what it said. It stands in front of what the user said next, not in the answer
// itself: a model that reads such a list in its own words writes one, in place of calling its tools.
func did(t model.Turn) string {
	if len(t.Did) == 0 {
		return ""
	}
	return "[The calls of your answer before this message: " + strings.Join(t.Did, "; ") + "]\n\n"
}

// messagesOf are turns as messages, and what the last answer did, for the message that follows.
func messagesOf(turns []model.Turn) (messages []model.Message, after string) {
	for _, t := range turns {
		messages = append(messages,
			model.Message{Role: model.User, Text: after + orNothing(t.User)},
			model.Message{Role: model.Assistant, Text: orNothing(t.Assistant)})
		after = did(t)
	}
	return messages, after
}

// orNothing stands in for a text that is empty, which providers refuse.
func orNothing(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(no text)"
	}
	return text
}
