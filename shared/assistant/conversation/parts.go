package conversation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/db"
	"devplatform/shared/project/content"
)

// maxParts is the maximum number of parts of a message.
const maxParts = content.MaxChunks

// parts returns the items of a message in order, without their keys. If the message is too large to store, parts
// removes the code, which is also in the content or in an action, then the last actions, and finally the end of the
// content.
func (m Message) parts() (items []db.Item, err error) {
	body := messageBody{m.Content, m.Code, m.Actions, m.Model, m.Usage}
	var chunks [][]byte
	for {
		// A model may have stopped in the middle of a character.
		data, err := json.Marshal(body, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return nil, fmt.Errorf("conversation: encode message %q: %w", m.ID, err)
		}
		if chunks, err = content.Pack(data); err == nil {
			break
		}
		switch {
		case !errors.Is(err, content.ErrTooLarge), body.Content == "" && len(body.Actions) == 0 && body.Code == "":
			return nil, err // also if the name of the model, which stays, is too long
		case body.Code != "":
			body.Code = ""
		case len(body.Actions) > 0:
			body.Actions = body.Actions[:len(body.Actions)-1]
		default:
			body.Content = strings.ToValidUTF8(body.Content[:len(body.Content)/2], "")
		}
	}
	items = make([]db.Item, len(chunks))
	for n, chunk := range chunks {
		part := partRecord{CreatedAt: m.CreatedAt, Body: chunk}
		if n == 0 {
			part.Role, part.Status, part.AuthorID, part.Chunks = m.Role, m.Status, m.AuthorID, len(chunks)
		}
		if items[n], err = db.Encode(part); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// assembler builds messages from their parts. The parts must be added in the ascending or descending order of their
// keys.
type assembler struct {
	messages []Message // the complete messages, in the order in which they were read
	// bytes is the size of the JSON of all messages except the last, and lastBytes the size of the last one.
	bytes, lastBytes int

	// The message whose parts are being added: its ID, its first part if it was added, and its chunks by part number.
	id     string
	first  partRecord
	chunks map[int][]byte
}

// add adds a part. The parts of an incomplete message are ignored: some of its parts have already been deleted. A
// message with a damaged part is logged and omitted.
func (a *assembler) add(ctx context.Context, messages db.Prefix, item db.Item) {
	if err := a.addPart(messages, item); err != nil {
		key := db.KeyOf(item)
		slog.ErrorContext(ctx, "a message cannot be decoded and is omitted", "pk", key.PK, "sk", key.SK, "cause", err.Error())
	}
}

// addPart adds a part. If the current message then has all of its parts, it adds the message to messages.
func (a *assembler) addPart(messages db.Prefix, item db.Item) error {
	messageID, number, _ := strings.Cut(messages.Rest(db.KeyOf(item)), "#")
	n, err := strconv.Atoi(number)
	if err != nil {
		return fmt.Errorf("conversation: stored message %q: %w", messageID, err)
	}
	part, err := db.Decode[partRecord](item)
	if err != nil {
		return err
	}
	if part.Chunks < 0 || part.Chunks > maxParts {
		return fmt.Errorf("conversation: stored message %q: invalid number of parts: %d", messageID, part.Chunks)
	}
	if messageID != a.id || a.chunks == nil {
		a.id, a.first, a.chunks = messageID, partRecord{}, map[int][]byte{}
	}
	a.chunks[n] = part.Body
	if n == 0 {
		a.first = part
	}
	if a.first.Chunks == 0 {
		return nil
	}
	body := make([][]byte, a.first.Chunks)
	for n := range body {
		chunk, ok := a.chunks[n]
		if !ok {
			return nil // more parts follow
		}
		body[n] = chunk
	}
	a.chunks = map[int][]byte{} // later parts with this ID do not belong to the message
	data, err := content.Join(body)
	if err != nil {
		return fmt.Errorf("conversation: stored message %q: %w", a.id, err)
	}
	var b messageBody
	if err := json.Unmarshal(data, &b); err != nil {
		return fmt.Errorf("conversation: stored message %q: %w", a.id, err)
	}
	a.bytes, a.lastBytes = a.bytes+a.lastBytes, len(data)
	a.messages = append(a.messages, Message{
		ID: a.id, Role: a.first.Role, Status: a.first.Status, CreatedAt: a.first.CreatedAt, AuthorID: a.first.AuthorID,
		Content: b.Content, Code: b.Code, Actions: b.Actions, Model: b.Model, Usage: b.Usage,
	})
	return nil
}
