package openai

import (
	"crypto/rand"
	"errors"
	"strings"

	"devplatform/shared/assistant/model"
)

// partQueue emits the parts of an answer in the order that model.PartKind requires: one call at a time, and no text
// inside a call. The API has no event for the end of a call. A call has ended when its arguments are a complete JSON
// value and another part arrives. Parts that arrive before the current call has ended wait in the queue.
type partQueue struct {
	emit func(model.Part) error
	// queue contains the pieces that have not ended or were not emitted. The first piece is emitted while it arrives.
	queue []*piece
	// byIndex, byID and last find the call that a delta continues. last is the call that the previous delta continued.
	byIndex map[int]*piece
	byID    map[string]*piece
	last    *piece
	// usedIDs are the IDs of all calls of the conversation.
	usedIDs map[string]bool
	// calls is the number of calls in this answer, and size the number of bytes of its texts, inputs and IDs.
	calls, size int
}

// piece is a call, or text between calls.
type piece struct {
	isCall bool
	// serverID is the ID that the server sent. id is the ID that is emitted. It is set when the call is started.
	serverID, id, name string
	pending            strings.Builder // not emitted yet
	surrogates         surrogates
	arguments          jsonBalance
	isStarted          bool
	hasEnded           bool
}

func newPartQueue(r model.Request, emit func(model.Part) error) *partQueue {
	q := &partQueue{emit: emit, byIndex: map[int]*piece{}, byID: map[string]*piece{}, usedIDs: map[string]bool{}}
	for _, m := range r.Messages {
		for _, call := range m.Calls {
			q.usedIDs[call.ID] = true
		}
	}
	return q
}

// text adds text.
func (q *partQueue) text(s string) error {
	if s == "" {
		return nil
	}
	if q.size += len(s); q.size > maxPending {
		return errTooLarge
	}
	if n := len(q.queue); n == 0 || q.queue[n-1].isCall {
		q.queue = append(q.queue, &piece{})
	}
	q.queue[len(q.queue)-1].pending.WriteString(s)
	return q.flush(false)
}

// call continues a call or begins a new one.
func (q *partQueue) call(d callDelta) error {
	input := textOf(d.Function.Arguments)
	c := q.find(d)
	if c == nil || c.isFollowedBy(d, input) {
		c = &piece{isCall: true}
		q.queue = append(q.queue, c)
		q.calls++
	}
	q.size += len(input) + len(d.ID)
	if q.size > maxPending || q.calls > maxPieces || max(len(d.ID), len(d.Function.Name)) > maxName {
		return errTooLarge
	}
	q.last = c
	if d.Index != nil {
		q.byIndex[*d.Index] = c
	}
	if d.ID != "" {
		q.byID[d.ID] = c
	}
	if c.hasEnded {
		if strings.TrimSpace(input) != "" {
			return errors.New("an event continues a call that has ended")
		}
		return nil
	}
	if c.serverID == "" {
		c.serverID = d.ID
	}
	if c.name == "" {
		c.name = d.Function.Name
	}
	input = c.surrogates.text(d.Function.Arguments)
	c.pending.WriteString(input)
	c.arguments.add(input)
	return q.flush(false)
}

// find returns the call that a delta continues: the call with the delta's index, otherwise the call with the delta's
// ID, otherwise the last call.
func (q *partQueue) find(d callDelta) *piece {
	if d.Index != nil {
		return q.byIndex[*d.Index]
	}
	if c := q.byID[d.ID]; c != nil {
		return c
	}
	return q.last
}

// isFollowedBy reports whether a delta begins a new call, although find returned the call c for it. Ollama sends each
// call in one delta with index 0, and other servers send neither index nor ID. A delta begins a new call if it has a
// name and at least one of the following: another ID; input, although the input of c is already complete; or no ID and
// another name. A name or an ID alone is not sufficient: some versions of vLLM send each delta with a new ID, and other
// servers repeat ID and name.
func (c *piece) isFollowedBy(d callDelta, input string) bool {
	switch {
	case d.Function.Name == "":
		return false
	case d.ID != "" && c.serverID != "" && d.ID != c.serverID:
		return true
	case c.arguments.isComplete() && strings.TrimSpace(input) != "":
		return true
	}
	return d.ID == "" && c.arguments.isOpened && c.name != "" && d.Function.Name != c.name
}

// close ends the answer, and with it all calls.
func (q *partQueue) close() error { return q.flush(true) }

// flush emits the pending parts, up to the first call that may be continued. At the end of the answer, no call is
// continued.
func (q *partQueue) flush(atEnd bool) error {
	for len(q.queue) > 0 {
		first := q.queue[0]
		if !first.isCall {
			if err := q.emit(model.Part{Kind: model.Text, Text: first.pending.String()}); err != nil {
				return err
			}
		} else {
			isLast := len(q.queue) == 1
			if err := q.flushCall(first, atEnd); err != nil {
				return err
			}
			if !atEnd && (isLast || !first.isStarted || !first.arguments.isComplete()) {
				return nil
			}
			first.hasEnded = true
			if err := q.emit(model.Part{Kind: model.CallEnd, CallID: first.id}); err != nil {
				return err
			}
		}
		q.queue = q.queue[1:]
	}
	return nil
}

// flushCall emits the pending parts of a call. It waits for the name of the call, except at the end of the answer.
func (q *partQueue) flushCall(c *piece, atEnd bool) error {
	if c.name == "" && !atEnd {
		return nil
	}
	if !c.isStarted {
		c.isStarted, c.id = true, q.newID(c.serverID)
		if err := q.emit(model.Part{Kind: model.CallStart, CallID: c.id, Name: c.name}); err != nil {
			return err
		}
	}
	if c.pending.Len() == 0 {
		return nil
	}
	text := c.pending.String()
	c.pending.Reset()
	return q.emit(model.Part{Kind: model.CallDelta, CallID: c.id, Text: text})
}

// newID returns the server's ID, or a random ID if the server's ID is empty or already used.
func (q *partQueue) newID(id string) string {
	const length = 9 // Mistral rejects any other length
	for id == "" || q.usedIDs[id] {
		id = rand.Text()[:length]
	}
	q.usedIDs[id] = true
	return id
}

// jsonBalance reports when a JSON object or array that arrives in pieces is complete: when all brackets are closed. It
// does not check the syntax, because it must also detect the end of an input that is not valid.
type jsonBalance struct {
	depth                         int
	isOpened, inString, isEscaped bool
}

func (b *jsonBalance) add(text string) {
	for i := range len(text) {
		switch c := text[i]; {
		case b.isEscaped:
			b.isEscaped = false
		case b.inString:
			b.isEscaped, b.inString = c == '\\', c != '"'
		case c == '"':
			b.inString = true
		case c == '{' || c == '[':
			b.isOpened = true
			b.depth++
		case c == '}' || c == ']':
			b.depth--
		}
	}
}

func (b *jsonBalance) isComplete() bool { return b.isOpened && b.depth == 0 && !b.inString }
