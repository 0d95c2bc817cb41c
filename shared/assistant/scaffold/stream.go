package scaffold

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"devplatform/shared/assistant/model"
)

// The numbers of words in emitted pieces of text and of a call's input.
const (
	textPiece  = 3
	inputPiece = 12
)

// parts returns the parts of an answer, in order. prefix makes the IDs of calls different in each answer of a
// conversation.
func (a answer) parts(prefix string) []model.Part {
	var all []model.Part
	for _, p := range pieces(a.text, textPiece) {
		all = append(all, model.Part{Kind: model.Text, Text: p})
	}
	for i, c := range a.calls {
		id := fmt.Sprintf("call_%s_%d", prefix, i+1)
		all = append(all, model.Part{Kind: model.CallStart, CallID: id, Name: c.name})
		for _, p := range pieces(c.input, inputPiece) {
			all = append(all, model.Part{Kind: model.CallDelta, CallID: id, Text: p})
		}
		all = append(all, model.Part{Kind: model.CallEnd, CallID: id})
	}
	return all
}

// callPrefix returns a hash of the question and the conversation before it.
func callPrefix(conversation []model.Message) string {
	h := fnv.New32a()
	for _, m := range conversation {
		_, _ = h.Write([]byte(m.Text + "\x00")) // never fails
	}
	return fmt.Sprintf("%08x", h.Sum32())
}

// pieces splits a text after every n spaces.
func pieces(text string, n int) []string {
	var all []string
	for words := range slices.Chunk(strings.SplitAfter(text, " "), n) {
		all = append(all, strings.Join(words, ""))
	}
	return all
}
