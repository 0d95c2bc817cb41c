package prompt

import (
	"strings"

	"devplatform/shared/assistant/model"
)

const (
	// maxSummarized is how much of all turns together goes into a note, in tokens; maxNoted how much of the note before.
	maxSummarized = 12_000
	maxNoted      = 1_500
	// leastTurn is how much of a turn is told, however many there are, in bytes.
	leastTurn = 256
)

// Summarize asks for a note that takes the place of turns, the oldest first, and of the note before. Turns that are too long for it are
// cut.
func Summarize(summary string, turns []model.Turn, maxOutput int) model.Request {
	var sections []section
	before, _ := cut(clean(summary), maxNoted*bytesPerToken)
	if before != "" {
		sections = append(sections, section{"note before", before})
	}
	sizes := make([]int, len(turns))
	for i, t := range turns {
		sizes[i] = len(t.User) + len(t.Assistant) + maxDid + 4*frame
	}
	told := make([]model.Turn, len(turns))
	for i, share := range shares(sizes, maxSummarized*bytesPerToken) {
		t := shorten(turns[i], max(share, leastTurn))
		told[i] = t
		sections = append(sections, section{"user", orNothing(t.User)}, section{"assistant", orNothing(t.Assistant)})
		if len(t.Did) > 0 {
			sections = append(sections, section{"calls", strings.Join(t.Did, "\n")})
		}
	}
	return model.Request{
		Task: model.TaskSummarize, System: summarizeInstruction, MaxOutput: maxOutput,
		Messages: []model.Message{{Role: model.User, Text: together(sections, nil)}},
		Facts:    model.Facts{Turns: told, Summary: before},
	}
}
