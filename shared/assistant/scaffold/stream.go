package scaffold

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"

	"devplatform/shared/assistant/model"
)

// The numbers of words in emitted pieces of text and of a call's input.
const (
	textPiece  = 3
	inputPiece = 12
)

// writer emits an answer in parts.
type writer struct {
	ctx  context.Context // a writer lives for one call of Generate
	emit func(model.Part) error
	// prefix makes the IDs of calls different in each answer of a conversation.
	prefix string
	// written is the number of emitted characters.
	written int
}

// callPrefix returns a hash of the question and the conversation before it.
func callPrefix(conversation []model.Message) string {
	h := fnv.New32a()
	for _, m := range conversation {
		_, _ = h.Write([]byte(m.Text + "\x00")) // never fails
	}
	return fmt.Sprintf("%08x", h.Sum32())
}

func (w *writer) write(a answer) error {
	for _, p := range pieces(a.text, textPiece) {
		if err := w.part(model.Part{Kind: model.Text, Text: p}); err != nil {
			return err
		}
	}
	for i, c := range a.calls {
		if err := w.call(fmt.Sprintf("call_%s_%d", w.prefix, i+1), c); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) call(id string, c call) error {
	if err := w.part(model.Part{Kind: model.CallStart, CallID: id, Name: c.name}); err != nil {
		return err
	}
	for _, p := range pieces(c.input, inputPiece) {
		if err := w.part(model.Part{Kind: model.CallDelta, CallID: id, Text: p}); err != nil {
			return err
		}
	}
	return w.part(model.Part{Kind: model.CallEnd, CallID: id})
}

func (w *writer) part(p model.Part) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if err := w.emit(p); err != nil {
		return err
	}
	w.written += utf8.RuneCountInString(p.Text) + utf8.RuneCountInString(p.Name)
	return nil
}

// pieces splits a text after every n spaces.
func pieces(text string, n int) []string {
	var all []string
	for words := range slices.Chunk(strings.SplitAfter(text, " "), n) {
		all = append(all, strings.Join(words, ""))
	}
	return all
}
