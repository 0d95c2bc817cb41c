package prompt

import "devplatform/shared/assistant/model"

// Budget is how much of each part a request may have, in tokens.
type Budget struct{ Tree, Current, Named, History, Summary int }

// DefaultBudget suits every current model: with the message, the instructions and an answer it stays below 64k tokens.
func DefaultBudget() Budget {
	return Budget{Tree: 3_000, Current: 12_000, Named: 12_000, History: 6_000, Summary: 1_500}
}

// Tight is a quarter, for a model that said that the request was too long.
func (b Budget) Tight() Budget {
	return Budget{Tree: b.Tree / 4, Current: b.Current / 4, Named: b.Named / 4, History: b.History / 4, Summary: b.Summary / 4}
}

// bytesPerToken is the rule of thumb by which tokens are estimated. It counts bytes of UTF-8, not characters: in other scripts than
// Latin a character takes more tokens, about as it takes more bytes.
const bytesPerToken = 4

// TokensOf estimates how many tokens a text takes.
func TokensOf(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }

// Tokens estimates how many tokens a request takes.
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
