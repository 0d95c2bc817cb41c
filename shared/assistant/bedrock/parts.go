package bedrock

import (
	"fmt"
	"strings"

	"devplatform/shared/assistant/model"
)

// partQueue emits the parts of an answer in the order that model.Part requires: one call at a time, and no text inside
// a call. Bedrock identifies content blocks by an index, and does not guarantee that they do not overlap. Parts that
// arrive before the current call has ended wait in the queue.
type partQueue struct {
	emit func(model.Part) error
	// queue contains the pieces that have not ended or have not been emitted completely. The first piece is emitted
	// while it arrives.
	queue []*piece
	// pending is the number of bytes of all pieces that have not been emitted.
	pending int
	// running are the calls that have not ended, by index.
	running map[int32]*piece
	// calls is the number of all calls.
	calls int
}

// piece is a call, or text between calls.
type piece struct {
	isCall    bool
	id, name  string
	pending   strings.Builder // not emitted yet
	isStarted bool
	hasInput  bool
	hasEnded  bool
}

// newPartQueue returns a queue. It replaces invalid UTF-8 in the parts, because the SDK does not check the encoding.
func newPartQueue(emit func(model.Part) error) *partQueue {
	valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
	return &partQueue{running: map[int32]*piece{}, emit: func(p model.Part) error {
		p.CallID, p.Name, p.Text = valid(p.CallID), valid(p.Name), valid(p.Text)
		return emit(p)
	}}
}

// thinking emits a part which shows that the model is working. It may be emitted anywhere.
func (q *partQueue) thinking() error { return q.emit(model.Part{Kind: model.Thinking}) }

// text adds text of any block.
func (q *partQueue) text(text string) error {
	if text == "" {
		return nil
	}
	if n := len(q.queue); n == 0 || q.queue[n-1].isCall {
		q.queue = append(q.queue, &piece{})
	}
	return q.add(q.queue[len(q.queue)-1], text)
}

// start begins a call.
func (q *partQueue) start(index int32, id, name string) error {
	if q.running[index] != nil {
		return malformedError(fmt.Sprintf("content block %d starts twice", index))
	}
	if len(id) > maxName || len(name) > maxName || len(q.queue) == maxPieces {
		return errTooLarge
	}
	call := &piece{isCall: true, id: id, name: name}
	q.running[index], q.calls = call, q.calls+1
	q.queue = append(q.queue, call)
	return q.flush()
}

// input adds input of a call.
func (q *partQueue) input(index int32, json string) error {
	call := q.running[index]
	if call == nil {
		return malformedError(fmt.Sprintf("content block %d has the input of a tool call that did not start", index))
	}
	call.hasInput = call.hasInput || json != ""
	return q.add(call, json)
}

// add adds text to a piece that is in the queue.
func (q *partQueue) add(to *piece, text string) error {
	if q.pending += len(text); q.pending > maxPending {
		return errTooLarge
	}
	to.pending.WriteString(text)
	return q.flush()
}

// end ends a content block. It does nothing if the block is not a call.
func (q *partQueue) end(index int32) error {
	if call := q.running[index]; call != nil {
		call.hasEnded = true
		delete(q.running, index)
	}
	return q.flush()
}

// close ends the message, and with it all calls.
func (q *partQueue) close() error {
	for _, call := range q.running {
		call.hasEnded = true
	}
	clear(q.running)
	return q.flush()
}

// flush emits the pending parts, up to the first call that has not ended.
func (q *partQueue) flush() error {
	for len(q.queue) > 0 {
		first := q.queue[0]
		if !first.isCall {
			q.pending -= first.pending.Len()
			if err := q.emit(model.Part{Kind: model.Text, Text: first.pending.String()}); err != nil {
				return err
			}
		} else if err := q.flushCall(first); err != nil || !first.hasEnded {
			return err
		}
		q.queue = q.queue[1:]
	}
	return nil
}

// flushCall emits the pending parts of a call.
func (q *partQueue) flushCall(call *piece) error {
	if !call.isStarted {
		call.isStarted = true
		if err := q.emit(model.Part{Kind: model.CallStart, CallID: call.id, Name: call.name}); err != nil {
			return err
		}
	}
	text := call.pending.String()
	q.pending -= len(text)
	if call.hasEnded && !call.hasInput {
		text = "{}" // the tool has no parameters
	}
	if text != "" {
		call.pending.Reset()
		if err := q.emit(model.Part{Kind: model.CallDelta, CallID: call.id, Text: text}); err != nil {
			return err
		}
	}
	if call.hasEnded {
		return q.emit(model.Part{Kind: model.CallEnd, CallID: call.id})
	}
	return nil
}
