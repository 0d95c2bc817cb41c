package openai

import (
	"crypto/rand"
	"errors"
	"strings"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/provider"
)

// calls finds the call that a delta continues. The API has no event for the end of a call. A call has ended when its
// arguments are a complete JSON value and another part arrives.
type calls struct {
	parts *provider.Queue
	// open are the calls that have not ended, oldest first. hasText is set if text follows the last of them.
	open    []*call
	hasText bool
	// byIndex, byID and last find the call that a delta continues. last is the call that the previous delta continued.
	byIndex map[int]*call
	byID    map[string]*call
	last    *call
	// usedIDs are the IDs of all calls of the conversation.
	usedIDs map[string]bool
}

// call is a call of the answer. serverID is the ID that the server sent.
type call struct {
	*provider.Piece

	serverID  string
	arguments jsonBalance
	hasEnded  bool
}

func newCalls(r model.Request, parts *provider.Queue) *calls {
	c := &calls{parts: parts, byIndex: map[int]*call{}, byID: map[string]*call{}, usedIDs: map[string]bool{}}
	for _, m := range r.Messages {
		for _, call := range m.Calls {
			c.usedIDs[call.ID] = true
		}
	}
	return c
}

// addText adds text of the answer.
func (c *calls) addText(text string) error {
	c.hasText = c.hasText || text != ""
	if err := c.parts.AddText(text); err != nil {
		return err
	}
	return c.endComplete()
}

// add continues a call or begins a new one.
func (c *calls) add(d callDelta) error {
	input := textOf(d.Function.Arguments)
	next := c.find(d)
	if next == nil || next.isFollowedBy(d, input) {
		next = &call{Piece: c.parts.AddCall("", "")}
		c.open, c.hasText = append(c.open, next), false
	}
	if len(d.ID) > provider.MaxName {
		return provider.ErrTooLarge
	}
	if err := c.parts.CountBytes(len(d.ID)); err != nil {
		return err
	}
	c.last = next
	if d.Index != nil {
		c.byIndex[*d.Index] = next
	}
	if d.ID != "" {
		c.byID[d.ID] = next
	}
	if next.hasEnded {
		if strings.TrimSpace(input) != "" {
			return errors.New("an event continues a call that has ended")
		}
		return nil
	}
	if next.serverID == "" {
		next.serverID = d.ID
	}
	if next.Name == "" && d.Function.Name != "" {
		next.ID, next.Name = c.newID(next.serverID), d.Function.Name
	}
	next.arguments.add(input)
	if err := c.parts.AddInput(next.Piece, input); err != nil {
		return err
	}
	return c.endComplete()
}

// find returns the call that a delta continues: the call with the delta's index, otherwise the call with the delta's
// ID, otherwise the last call.
func (c *calls) find(d callDelta) *call {
	if d.Index != nil {
		return c.byIndex[*d.Index]
	}
	if found := c.byID[d.ID]; found != nil {
		return found
	}
	return c.last
}

// isFollowedBy reports whether a delta begins a new call, although find returned the call c for it. This happens with
// servers that do not number calls: Ollama sends each call in one delta with index 0, and other servers send no index
// and no ID. A delta begins a new call if it has a name and at least one of these: another ID; input, although the
// input of c is already complete; another name, without an ID. A name or an ID alone is not sufficient: some versions
// of vLLM send each delta with a new ID, and other servers repeat ID and name.
func (c *call) isFollowedBy(d callDelta, input string) bool {
	switch {
	case d.Function.Name == "":
		return false
	case d.ID != "" && c.serverID != "" && d.ID != c.serverID:
		return true
	case c.arguments.isComplete() && strings.TrimSpace(input) != "":
		return true
	}
	return d.ID == "" && c.arguments.isOpened && c.Name != "" && d.Function.Name != c.Name
}

// endComplete ends the oldest calls whose arguments are complete and that another part follows.
func (c *calls) endComplete() error {
	for len(c.open) > 1 || len(c.open) == 1 && c.hasText {
		oldest := c.open[0]
		if oldest.Name == "" || !oldest.arguments.isComplete() {
			return nil
		}
		oldest.hasEnded = true
		c.open = c.open[1:]
		if err := c.parts.EndCall(oldest.Piece); err != nil {
			return err
		}
	}
	return nil
}

// close ends the answer, and with it all calls.
func (c *calls) close() error {
	for _, open := range c.open {
		if open.Name == "" {
			open.ID = c.newID(open.serverID)
		}
	}
	return c.parts.Close()
}

// newID returns the server's ID, or a random ID if the server's ID is empty or already used.
func (c *calls) newID(id string) string {
	const length = 9 // Mistral rejects any other length
	for id == "" || c.usedIDs[id] {
		id = rand.Text()[:length]
	}
	c.usedIDs[id] = true
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
