package openai

import (
	"crypto/rand"
	"errors"
	"strings"

	"devplatform/shared/assistant/model"
)

// parts puts an answer's deltas into the order of model.Part, in which one thing ends before the next begins. The API has no event
// for the end of a call: it has ended when its arguments are a closed JSON value and something else comes. What comes before that
// is held back.
type parts struct {
	emit func(model.Part) error
	// queue is what has not ended. Its head is being handed on, the others wait.
	queue []*piece
	// byIndex and byID find the call that a delta goes on with; last is the one that was gone on with last.
	byIndex map[int]*piece
	byID    map[string]*piece
	last    *piece
	// taken are the ids of the conversation's calls.
	taken map[string]bool
	calls int
}

// piece is a call, or text between calls.
type piece struct {
	isCall bool
	// sent is the id as the server has it, id the one that we hand on, fixed when the call begins.
	sent, id, name string
	// waiting is what has not been handed on.
	waiting strings.Builder
	begun   bool
	ended   bool
	shape   shape
}

func newParts(r model.Request, emit func(model.Part) error) *parts {
	p := &parts{emit: emit, byIndex: map[int]*piece{}, byID: map[string]*piece{}, taken: map[string]bool{}}
	for _, m := range r.Messages {
		for _, call := range m.Calls {
			p.taken[call.ID] = true
		}
	}
	return p
}

// text takes in more of the text.
func (p *parts) text(s string) error {
	if s == "" {
		return nil
	}
	if n := len(p.queue); n == 0 || p.queue[n-1].isCall {
		p.queue = append(p.queue, &piece{})
	}
	p.queue[len(p.queue)-1].waiting.WriteString(s)
	return p.advance(false)
}

// call takes in more of a call, or a new one.
func (p *parts) call(d callDelta) error {
	input := words(d.Function.Arguments)
	c := p.find(d)
	if c == nil || c.isFollowedBy(d, input) {
		c = &piece{isCall: true}
		p.queue = append(p.queue, c)
		p.calls++
	}
	p.last = c
	if d.Index != nil {
		p.byIndex[*d.Index] = c
	}
	if d.ID != "" {
		p.byID[d.ID] = c
	}
	if c.ended {
		if strings.TrimSpace(input) != "" {
			return errors.New("event: it goes on with a call that had ended")
		}
		return nil
	}
	if c.sent == "" {
		c.sent = d.ID
	}
	if c.name == "" {
		c.name = d.Function.Name
	}
	c.waiting.WriteString(input)
	c.shape.take(input)
	return p.advance(false)
}

// find is the call that a delta means: that of its index, else of its id, else the last.
func (p *parts) find(d callDelta) *piece {
	if d.Index != nil {
		return p.byIndex[*d.Index]
	}
	if c := p.byID[d.ID]; c != nil {
		return c
	}
	return p.last
}

// isFollowedBy reports that a delta at c's place begins another call all the same: Ollama sends each call whole and with index 0,
// others leave index and id out. A new call has a name, and another id, or input where c has all of its own. Neither is enough
// alone: vLLM has sent each delta with a new id, and others repeat id and name in each.
func (c *piece) isFollowedBy(d callDelta, input string) bool {
	switch {
	case d.Function.Name == "":
		return false
	case d.ID != "" && c.sent != "" && d.ID != c.sent:
		return true
	case c.shape.closed() && strings.TrimSpace(input) != "":
		return true
	}
	return d.ID == "" && c.shape.opened && c.name != "" && d.Function.Name != c.name
}

// advance hands on what may be: all of the queue up to a call that may go on. Nothing goes on at the last.
func (p *parts) advance(last bool) error {
	for len(p.queue) > 0 {
		head := p.queue[0]
		if err := p.tell(head, last); err != nil {
			return err
		}
		if head.isCall {
			if goesOn := len(p.queue) == 1 || !head.begun || !head.shape.closed(); goesOn && !last {
				return nil
			}
			head.ended = true
			if err := p.emit(model.Part{Kind: model.CallEnd, CallID: head.id}); err != nil {
				return err
			}
		}
		p.queue = p.queue[1:]
	}
	return nil
}

// tell hands on what waits of c. A call whose name is not known yet waits for it.
func (p *parts) tell(c *piece, last bool) error {
	if c.isCall && c.name == "" && !last {
		return nil
	}
	if c.isCall && !c.begun {
		c.begun, c.id = true, p.newID(c.sent)
		if err := p.emit(model.Part{Kind: model.CallStart, CallID: c.id, Name: c.name}); err != nil {
			return err
		}
	}
	text := c.waiting.String()
	if text == "" {
		return nil
	}
	c.waiting.Reset()
	if !c.isCall {
		return p.emit(model.Part{Kind: model.Text, Text: text})
	}
	return p.emit(model.Part{Kind: model.CallDelta, CallID: c.id, Text: text})
}

// end hands on all that was held back.
func (p *parts) end() error { return p.advance(true) }

// idLength is that of Mistral's ids, which refuses any other.
const idLength = 9

// newID is the server's id, or one of ours where it sent none, or one that the conversation has already.
func (p *parts) newID(sent string) string {
	for sent == "" || p.taken[sent] {
		sent = rand.Text()[:idLength]
	}
	p.taken[sent] = true
	return sent
}

// shape tells whether a JSON value that comes in pieces is closed. It does not tell whether it is valid.
type shape struct {
	depth                     int
	opened, inString, escaped bool
}

func (s *shape) take(text string) {
	for i := range len(text) {
		switch c := text[i]; {
		case s.escaped:
			s.escaped = false
		case s.inString:
			s.escaped, s.inString = c == '\\', c != '"'
		case c == '"':
			s.inString = true
		case c == '{' || c == '[':
			s.opened = true
			s.depth++
		case c == '}' || c == ']':
			s.depth--
		}
	}
}

func (s *shape) closed() bool { return s.opened && s.depth == 0 && !s.inString }
