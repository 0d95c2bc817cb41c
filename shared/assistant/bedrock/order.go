package bedrock

import (
	"fmt"
	"strings"

	"devplatform/shared/assistant/model"
)

// order hands on the parts of an answer as model.Part wants them: one call at a time, whole, and no text inside of it. Bedrock tells
// them apart by the index of their content block, and nothing says that blocks come one after another. What comes while a call is
// open waits until that ends.
type order struct {
	emit func(model.Part) error
	// calls are those that have begun and not ended, by index.
	calls map[int32]*call
	// open is the call whose input goes out as it comes; nil between calls.
	open *call
	// later is what waits for open to end, in the order in which it came.
	later []*piece
	// begun counts the calls.
	begun int
}

// call is a call of a tool.
type call struct {
	id, name string
	// some says that input was handed on: a tool without parameters may have none, which means {}.
	some bool
}

// piece is a part of the answer that waits: text, or a call as far as it has come.
type piece struct {
	call  *call // nil: text
	text  strings.Builder
	ended bool
}

// newOrder hands parts on to emit, as UTF-8: the SDK takes bytes that are none for text.
func newOrder(emit func(model.Part) error) *order {
	valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
	return &order{calls: map[int32]*call{}, emit: func(p model.Part) error {
		p.CallID, p.Name, p.Text = valid(p.CallID), valid(p.Name), valid(p.Text)
		return emit(p)
	}}
}

// thinking takes a sign that the model is at work, which keeps no order with anything.
func (o *order) thinking() error { return o.emit(model.Part{Kind: model.Thinking}) }

// text takes more of the answer's text, of whichever block.
func (o *order) text(text string) error {
	switch {
	case text == "":
		return nil
	case o.open == nil:
		return o.emit(model.Part{Kind: model.Text, Text: text})
	}
	if n := len(o.later); n == 0 || o.later[n-1].call != nil {
		o.later = append(o.later, &piece{})
	}
	o.later[len(o.later)-1].text.WriteString(text)
	return nil
}

// start takes the beginning of a call.
func (o *order) start(index int32, id, name string) error {
	if o.calls[index] != nil {
		return broken(fmt.Sprintf("content block %d begins twice", index))
	}
	c := &call{id: id, name: name}
	o.calls[index], o.begun = c, o.begun+1
	if o.open != nil {
		o.later = append(o.later, &piece{call: c})
		return nil
	}
	return o.begin(c)
}

// input takes more of a call's input.
func (o *order) input(index int32, json string) error {
	c := o.calls[index]
	switch c {
	case nil:
		return broken(fmt.Sprintf("content block %d has a tool's input and no beginning", index))
	case o.open:
		return o.more(json)
	}
	p := o.waiting(c)
	if p == nil {
		return lost(index)
	}
	p.text.WriteString(json)
	return nil
}

// end takes the end of a content block. Those that are no calls need none.
func (o *order) end(index int32) error {
	c := o.calls[index]
	if c == nil {
		return nil
	}
	delete(o.calls, index)
	if c != o.open {
		p := o.waiting(c)
		if p == nil {
			return lost(index)
		}
		p.ended = true
		return nil
	}
	if err := o.finish(); err != nil {
		return err
	}
	return o.advance()
}

// close takes the end of the message, and with it that of every call.
func (o *order) close() error {
	for _, p := range o.later {
		p.ended = true
	}
	clear(o.calls)
	if o.open == nil {
		return nil
	}
	if err := o.finish(); err != nil {
		return err
	}
	return o.advance()
}

// advance hands on what waits, up to and including a call that has not ended.
func (o *order) advance() error {
	for o.open == nil && len(o.later) > 0 {
		p := o.later[0]
		o.later = o.later[1:]
		if p.call == nil {
			if err := o.text(p.text.String()); err != nil {
				return err
			}
			continue
		}
		if err := o.begin(p.call); err != nil {
			return err
		}
		if err := o.more(p.text.String()); err != nil {
			return err
		}
		if !p.ended {
			return nil
		}
		if err := o.finish(); err != nil {
			return err
		}
	}
	return nil
}

func (o *order) begin(c *call) error {
	o.open = c
	return o.emit(model.Part{Kind: model.CallStart, CallID: c.id, Name: c.name})
}

func (o *order) more(json string) error {
	if json == "" {
		return nil
	}
	o.open.some = true
	return o.emit(model.Part{Kind: model.CallDelta, CallID: o.open.id, Text: json})
}

func (o *order) finish() error {
	if !o.open.some {
		if err := o.more("{}"); err != nil {
			return err
		}
	}
	id := o.open.id
	o.open = nil
	return o.emit(model.Part{Kind: model.CallEnd, CallID: id})
}

// waiting is the piece of a call that is not open; nil if there is none.
func (o *order) waiting(c *call) *piece {
	for _, p := range o.later {
		if p.call == c {
			return p
		}
	}
	return nil
}

// lost is a call that is neither open nor waiting. None should be; one that is costs its answer, not the process.
func lost(index int32) *model.Error {
	return broken(fmt.Sprintf("content block %d has a call that is neither open nor waiting", index))
}
