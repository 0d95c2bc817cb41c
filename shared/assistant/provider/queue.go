package provider

import (
	"errors"
	"strings"

	"devplatform/shared/assistant/model"
)

// The limits of a Queue protect the memory of the function from a server that does not follow its protocol.
const (
	// MaxName is the maximum number of bytes of the name or the ID of a call. The client of a stream receives the ID
	// with each part of the input.
	MaxName = 256
	// maxSize is the maximum number of bytes of all texts and inputs of an answer, and maxCalls the maximum number of
	// its calls.
	maxSize  = 4 << 20
	maxCalls = 1000
)

// ErrTooLarge reports that an answer exceeds a limit.
var ErrTooLarge = errors.New("the answer is too large")

// Queue passes the parts of an answer to emit in the order that model.PartKind requires: one call at a time, and no
// text inside a call. Parts that arrive before the current call has ended wait in the queue. Invalid UTF-8 is replaced.
// The errors of its methods are ErrTooLarge and the errors of emit.
type Queue struct {
	// CallCount is the number of all calls.
	CallCount int
	emit      func(model.Part) error
	// pieces have not ended or were not emitted completely. The first piece is emitted while it arrives.
	pieces []*Piece
	size   int
}

// Piece is a call in a Queue, or text between calls. ID and Name may be set later, but before the call is emitted: a
// call without a name waits until its end.
type Piece struct {
	ID, Name                    string
	isCall, isStarted, hasEnded bool
	pending                     strings.Builder // not emitted yet
}

// NewQueue returns an empty queue.
func NewQueue(emit func(model.Part) error) *Queue {
	valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
	return &Queue{emit: func(p model.Part) error {
		p.CallID, p.Name, p.Text = valid(p.CallID), valid(p.Name), valid(p.Text)
		return emit(p)
	}}
}

// Thinking emits a part which shows that the model is working. It may be emitted anywhere.
func (q *Queue) Thinking() error { return q.emit(model.Part{Kind: model.Thinking}) }

// AddText adds text.
func (q *Queue) AddText(text string) error {
	if text == "" {
		return nil
	}
	if n := len(q.pieces); n == 0 || q.pieces[n-1].isCall {
		q.pieces = append(q.pieces, &Piece{})
	}
	return q.AddInput(q.pieces[len(q.pieces)-1], text)
}

// AddCall adds a call, which is emitted by the next call of another method.
func (q *Queue) AddCall(id, name string) *Piece {
	call := &Piece{ID: id, Name: name, isCall: true}
	q.pieces = append(q.pieces, call)
	q.CallCount++
	return call
}

// AddInput adds input of a call, or text of any other piece.
func (q *Queue) AddInput(call *Piece, text string) error {
	call.pending.WriteString(text)
	err := q.CountBytes(len(text))
	if err != nil || max(len(call.ID), len(call.Name)) > MaxName || q.CallCount > maxCalls {
		return ErrTooLarge
	}
	return q.flush()
}

// CountBytes counts bytes towards the maximum size of the answer.
func (q *Queue) CountBytes(size int) error {
	if q.size += size; q.size > maxSize {
		return ErrTooLarge
	}
	return nil
}

// EndCall ends a call.
func (q *Queue) EndCall(call *Piece) error {
	call.hasEnded = true
	return q.flush()
}

// Close ends the message, and with it all calls.
func (q *Queue) Close() error {
	for _, piece := range q.pieces {
		piece.hasEnded = true
	}
	return q.flush()
}

// flush emits the pending parts, up to the first call that has not ended.
func (q *Queue) flush() error {
	for len(q.pieces) > 0 {
		first := q.pieces[0]
		next := model.Part{Kind: model.Text}
		if first.isCall {
			if first.Name == "" && !first.hasEnded {
				return nil
			}
			next = model.Part{Kind: model.CallDelta, CallID: first.ID}
		}
		if first.isCall && !first.isStarted {
			first.isStarted = true
			if err := q.emit(model.Part{Kind: model.CallStart, CallID: first.ID, Name: first.Name}); err != nil {
				return err
			}
		}
		if next.Text = first.pending.String(); next.Text != "" {
			first.pending.Reset()
			if err := q.emit(next); err != nil {
				return err
			}
		}
		if first.isCall {
			if !first.hasEnded {
				return nil
			}
			if err := q.emit(model.Part{Kind: model.CallEnd, CallID: first.ID}); err != nil {
				return err
			}
		}
		q.pieces = q.pieces[1:]
	}
	return nil
}
