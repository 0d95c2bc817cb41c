package prompt

import (
	"fmt"
	"slices"
	"strings"

	"devplatform/shared/assistant/model"
)

const (
	// maxCallsText is the maximum size in bytes of the list of an answer's calls.
	maxCallsText = 1 << 10
	// turnOverhead is the maximum number of bytes that a turn needs in addition to its texts. It covers the
	// replacement for an empty text and the rounding up to whole tokens.
	turnOverhead = 64
)

// Bounds of a request for a summary.
const (
	maxSummarizedTokens = 12_000 // of all turns together
	maxOldSummaryTokens = 1_500
	minSummarizedTurn   = 256 // bytes
)

// recentTurns returns the latest turns that have at most the given number of tokens, oldest first. A turn that has more
// than half of these tokens is cut.
func (c Chat) recentTurns(tokens int) []Turn {
	available := tokens * BytesPerToken
	limit := available / 2
	if limit < minShown {
		return nil
	}
	var recent []Turn
	for _, t := range slices.Backward(c.Turns) {
		t = shorten(t, limit)
		available -= len(t.User) + len(t.Assistant) + len(callsText(t)) + turnOverhead
		if available < 0 {
			break
		}
		recent = append(recent, t)
	}
	slices.Reverse(recent)
	return recent
}

// shorten cuts a turn to at most limit bytes, if that is possible.
func shorten(t Turn, limit int) Turn {
	t = Turn{
		User:      clean(t.User),
		Assistant: clean(t.Assistant),
		Actions:   firstLines(t.Actions, min(maxCallsText, limit/4)),
	}
	share := shares([]int{len(t.User), len(t.Assistant)}, limit-turnOverhead-len(callsText(t)))
	t.User, _ = cut(t.User, share[0])
	t.Assistant, _ = cut(t.Assistant, share[1])
	return t
}

// firstLines returns as many of the first texts as fit into a budget of bytes, each as one line. If some are missing,
// the last line has their number.
func firstLines(texts []string, budget int) []string {
	const lastLineSize = 24 // bytes kept free for the line "and N more"
	var lines []string
	for i, text := range texts {
		line := oneLine(clean(text))
		if budget -= len(line) + 2; budget < lastLineSize && i < len(texts)-1 || budget < 0 {
			return append(lines, fmt.Sprintf("and %d more", len(texts)-i))
		}
		lines = append(lines, line)
	}
	return lines
}

// callsText lists the calls of a turn's answer. The list precedes the user's next message. It is not part of the
// answer, because a model that sees such a list in its own answer imitates the list instead of calling tools.
func callsText(t Turn) string {
	if len(t.Actions) == 0 {
		return ""
	}
	return "[The calls of your answer before this message: " + strings.Join(t.Actions, "; ") + "]\n\n"
}

// messagesOf returns the turns as messages, and the list of the last answer's calls, which belongs to the next message.
func messagesOf(turns []Turn) (messages []model.Message, calls string) {
	for _, t := range turns {
		messages = append(messages,
			model.Message{Role: model.User, Text: calls + orNoText(t.User)},
			model.Message{Role: model.Assistant, Text: orNoText(t.Assistant)})
		calls = callsText(t)
	}
	return messages, calls
}

// orNoText replaces an empty text, because providers reject it.
func orNoText(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(no text)"
	}
	return text
}

// Summarize returns the request for a summary that replaces the old summary and the turns. The turns are sorted, oldest
// first. Turns that are too long are cut.
func Summarize(oldSummary string, turns []Turn, maxOutput int) model.Request {
	var sections []section
	oldSummary, _ = cut(clean(oldSummary), maxOldSummaryTokens*BytesPerToken)
	if oldSummary != "" {
		sections = append(sections, section{"current note", oldSummary})
	}
	sizes := make([]int, len(turns))
	for i, t := range turns {
		sizes[i] = len(t.User) + len(t.Assistant) + maxCallsText + 4*sectionOverhead
	}
	for i, share := range shares(sizes, maxSummarizedTokens*BytesPerToken) {
		t := shorten(turns[i], max(share, minSummarizedTurn))
		sections = append(sections, section{"user", orNoText(t.User)}, section{"assistant", orNoText(t.Assistant)})
		if len(t.Actions) > 0 {
			sections = append(sections, section{"calls", strings.Join(t.Actions, "\n")})
		}
	}
	return model.Request{
		Task: model.TaskSummarize, System: summarizeInstruction, MaxOutput: maxOutput,
		Messages: []model.Message{{Role: model.User, Text: join(sections, nil)}},
	}
}
