package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"devplatform/shared/assistant/model"
	"devplatform/shared/excerpt"
)

// Budget is the maximum number of tokens of each part of a request: the list of files, the current file, the other
// files, the earlier turns, and the summary.
type Budget struct{ Tree, Current, Named, History, Summary int }

// DefaultBudget returns a budget for all current models. Together with the message, the instructions and an answer, it
// is below 64k tokens.
func DefaultBudget() Budget {
	return Budget{Tree: 3_000, Current: 12_000, Named: 12_000, History: 6_000, Summary: 1_500}
}

// Tight returns a quarter of the budget. It is for a model that rejected a request as too long.
func (b Budget) Tight() Budget {
	return Budget{
		Tree: b.Tree / 4, Current: b.Current / 4, Named: b.Named / 4, History: b.History / 4, Summary: b.Summary / 4,
	}
}

// BytesPerToken is a rule of thumb. It counts bytes of UTF-8 and not characters, because in scripts other than Latin a
// character has both more tokens and more bytes.
const BytesPerToken = 4

// TokensOf estimates the number of tokens of a text.
func TokensOf(text string) int { return (len(text) + BytesPerToken - 1) / BytesPerToken }

// Tokens estimates the number of tokens of a request.
func Tokens(r model.Request) int {
	n := TokensOf(r.System)
	for _, t := range r.Tools {
		n += TokensOf(t.Name) + TokensOf(t.Description) + TokensOf(string(t.Schema))
	}
	for _, m := range r.Messages {
		n += TokensOf(m.Text)
		for _, c := range m.Calls {
			n += TokensOf(c.Name) + TokensOf(c.Input)
		}
		for _, result := range m.Results {
			n += TokensOf(result.Text)
		}
	}
	return n
}

// shares divides a budget of bytes among parts of the given sizes. A part that is smaller than an equal share gets its
// size. The larger parts share the remaining budget equally.
func shares(sizes []int, budget int) []int {
	bySize := make([]int, len(sizes))
	for i := range bySize {
		bySize[i] = i
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return sizes[a] - sizes[b] })
	all := make([]int, len(sizes))
	for done, i := range bySize {
		all[i] = min(sizes[i], max(0, budget)/(len(bySize)-done))
		budget -= all[i]
	}
	return all
}

// cut shortens a text to at most budget bytes: two thirds from the beginning and one third from the end, with a line
// between them that reports how much is missing. It cuts between lines if possible.
func cut(text string, budget int) (short string, isCut bool) {
	if len(text) <= budget {
		return text, false
	}
	const marker = 64 // the maximum size of the line in the middle, in bytes
	budget -= marker
	if budget <= 0 {
		return "", true
	}
	head, tail := headOf(text, budget*2/3), tailOf(text, budget-budget*2/3)
	middle := text[len(head) : len(text)-len(tail)]
	if (head == "" || strings.HasSuffix(head, "\n")) && strings.HasSuffix(middle, "\n") {
		return fmt.Sprintf("%s[… %d lines left out …]\n%s", head, strings.Count(middle, "\n"), tail), true
	}
	return fmt.Sprintf("%s\n[… %d characters left out …]\n%s", head, utf8.RuneCountInString(middle), tail), true
}

// headOf returns at most n bytes from the beginning of a text: whole lines, unless they have less than n/2 bytes.
func headOf(text string, n int) string {
	if end := strings.LastIndexByte(text[:n], '\n') + 1; end > n/2 {
		return text[:end]
	}
	return excerpt.Start(text, n)
}

// tailOf returns at most n bytes from the end of a text: whole lines, unless they have less than n/2 bytes.
func tailOf(text string, n int) string {
	from := len(text) - n
	if end := strings.IndexByte(text[from-1:], '\n'); end >= 0 && end < n/2 {
		return text[from+end:]
	}
	return excerpt.End(text, n)
}
