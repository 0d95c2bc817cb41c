package assistant

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/project/content"
)

// messageRecord is a part of a message as it is stored. What tells of the whole stands in the first part.
type messageRecord struct {
	Role      model.Role      `dynamodbav:"role,omitempty"`
	Status    status          `dynamodbav:"status,omitempty"`
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`
	AuthorID  string          `dynamodbav:"authorId,omitempty"`
	// Chunks is how many parts there are.
	Chunks int `dynamodbav:"chunks,omitempty"`
	// Body is a chunk of the packed JSON of a messageBody.
	Body []byte `dynamodbav:"body"`
}

// mostParts is how many a message can have.
const mostParts = content.MaxChunks

// messageBody is what of a message can be long.
type messageBody struct {
	Content string          `json:"content"`
	Code    string          `json:"code,omitzero"`
	Actions []action.Action `json:"actions,omitempty"`
	Model   string          `json:"model,omitzero"`
	Usage   usage           `json:"usage,omitzero"`
}

// parts are the items of a message, the first part first, without their keys.
func (m message) parts() ([]db.Item, error) {
	chunks, err := m.pack()
	if err != nil {
		return nil, err
	}
	items := make([]db.Item, len(chunks))
	for n, chunk := range chunks {
		part := messageRecord{CreatedAt: m.CreatedAt, Body: chunk}
		if n == 0 {
			part.Role, part.Status, part.AuthorID, part.Chunks = m.Role, m.Status, m.AuthorID, len(chunks)
		}
		if items[n], err = db.Encode(part); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// pack is the message's body in chunks. Of an answer that is larger than any model's should be, the code, which the content or an action
// has as well, the last actions, and in the end the content's end are not kept.
func (m message) pack() ([][]byte, error) {
	body := messageBody{m.Content, m.Code, m.Actions, m.Model, m.Usage}
	for {
		// What a model broke off in the middle of a character is text all the same.
		data, err := json.Marshal(body, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return nil, fmt.Errorf("a message: %w", err)
		}
		chunks, err := content.Pack(data)
		if !errors.Is(err, content.ErrTooLarge) {
			return chunks, err
		}
		switch {
		case body.Code != "":
			body.Code = ""
		case len(body.Actions) > 0:
			body.Actions = body.Actions[:len(body.Actions)-1]
		default:
			body.Content = strings.ToValidUTF8(body.Content[:len(body.Content)/2], "")
		}
	}
}

// puzzle are parts of messages, as far as they were read, in one order or the other.
type puzzle struct {
	messages []message // whole ones, in the order in which they were read
	bytes    int       // of the JSON of all of them but the last
	last     int
	id       string
	head     messageRecord
	chunks   map[int][]byte
}

// add puts a part to the others of its message; all of these come one after another. Parts that nobody needs are no fault: what is
// deleted goes part by part.
func (p *puzzle) add(messages db.Prefix, item db.Item) error {
	name, number, _ := strings.Cut(messages.Rest(db.KeyOf(item)), "#")
	n, err := strconv.Atoi(number)
	if err != nil {
		return fmt.Errorf("a stored message %q: %w", name, err)
	}
	part, err := db.Decode[messageRecord](item)
	if err != nil {
		return err
	}
	if part.Chunks < 0 || part.Chunks > mostParts {
		return fmt.Errorf("a stored message %q: %d parts", name, part.Chunks)
	}
	if name != p.id || p.chunks == nil {
		p.id, p.head, p.chunks = name, messageRecord{}, map[int][]byte{}
	}
	p.chunks[n] = part.Body
	if n == 0 {
		p.head = part
	}
	return p.complete()
}

// complete takes the message as read once all of its parts are there.
func (p *puzzle) complete() error {
	if p.head.Chunks == 0 {
		return nil
	}
	body := make([][]byte, p.head.Chunks)
	for n := range body {
		chunk, ok := p.chunks[n]
		if !ok {
			return nil
		}
		body[n] = chunk
	}
	p.chunks = map[int][]byte{} // whatever else comes is none of it
	data, err := content.Join(body)
	if err != nil {
		return fmt.Errorf("a stored message %q: %w", p.id, err)
	}
	var b messageBody
	if err := json.Unmarshal(data, &b); err != nil {
		return fmt.Errorf("a stored message %q: %w", p.id, err)
	}
	p.bytes, p.last = p.bytes+p.last, len(data)
	p.messages = append(p.messages, message{
		ID: p.id, Role: p.head.Role, Content: b.Content, Code: b.Code, Actions: b.Actions, Model: b.Model, Usage: b.Usage,
		Status: p.head.Status, CreatedAt: p.head.CreatedAt, AuthorID: p.head.AuthorID,
	})
	return nil
}

// backwards are the messages in the other order.
func (p *puzzle) backwards() []message {
	slices.Reverse(p.messages)
	return p.messages
}
