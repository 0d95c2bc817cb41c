package scaffold

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"devplatform/shared/assistant/model"
)

// A piece of text is a few words, a piece of input a line or so, as language models hand them on.
const (
	textPiece  = 16
	inputPiece = 64
)

// writer hands a reply on in parts.
type writer struct {
	ctx  context.Context //nolint:containedctx // lives for one call of Generate
	emit func(model.Part) error
	// prefix makes the calls' ids differ from those of the conversation's other answers.
	prefix string
	// written is how many characters have gone out.
	written int
}

// idPrefix is another one for another question, and for the same question later.
func idPrefix(f facts) string {
	h := fnv.New32a()
	texts := []string{f.Prompt, f.Summary}
	for _, t := range f.Turns {
		texts = append(texts, t.User, t.Assistant)
	}
	_, _ = h.Write([]byte(strings.Join(texts, "\x00"))) // never fails
	return fmt.Sprintf("%08x", h.Sum32())
}

// write hands on the text, then the calls.
func (w *writer) write(out reply) error {
	for _, p := range pieces(out.text, textPiece) {
		if err := w.part(model.Part{Kind: model.Text, Text: p}); err != nil {
			return err
		}
	}
	for i, c := range out.calls {
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

// part hands one part on, unless the caller has gone.
func (w *writer) part(p model.Part) error {
	if err := w.ctx.Err(); err != nil {
		return err //nolint:wrapcheck // the contract asks for the context's own
	}
	if err := w.emit(p); err != nil {
		return err
	}
	w.written += utf8.RuneCountInString(p.Text) + utf8.RuneCountInString(p.Name)
	return nil
}

// pieces cuts a text behind spaces and ends of lines, into pieces of about size bytes; where there are none for long, between runes.
func pieces(text string, size int) []string {
	var out []string
	for text != "" {
		n := len(text)
		if n > size {
			n = size
			if i := strings.IndexAny(text[size:], " \n"); i >= 0 && i < size {
				n = size + i + 1
			}
			for n < len(text) && !utf8.RuneStart(text[n]) {
				n++
			}
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// json is the input as a tool's call has it.
func (in input) json() string {
	b, err := json.Marshal(in)
	if err != nil { // strings that were made valid UTF-8 before; there is nothing else in it
		panic(fmt.Sprintf("scaffold: input: %v", err))
	}
	return string(b)
}
