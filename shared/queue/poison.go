package queue

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/excerpt"
)

// Limits of a message to a failure queue, in bytes before encoding. JSON may encode one byte as six.
const (
	maxExcerpt = 128 << 10 // of a record that is too long for a message
	maxReason  = 4 << 10
)

// Poison sends a stream record to a failure queue, as {"reason", "record"}. Call it if the record cannot be processed.
// This way the record is not lost, and does not block the stream. The message contains the record as JSON, or as a
// string if the record is not valid JSON. If the record is too long for a message, the message contains only the
// beginning and the end of the record, as a string. Errors: the errors of Send.
func (q Queue) Poison(ctx context.Context, record []byte, reason error) error {
	return q.poison(ctx, "record", record, reason)
}

// PoisonMessage sends a message that was received from another queue to a failure queue, as {"reason", "message":
// {"messageId", "body"}}. Call it if the message cannot be processed. See Poison. Errors: the errors of Send.
func (q Queue) PoisonMessage(ctx context.Context, id, body string, reason error) error {
	message, err := json.Marshal(map[string]string{"messageId": id, "body": body},
		json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return fmt.Errorf("queue: poison: %w", err)
	}
	return q.poison(ctx, "message", message, reason)
}

func (q Queue) poison(ctx context.Context, name string, record []byte, reason error) error {
	var content any = jsontext.Value(record)
	if !jsontext.Value(record).IsValid() {
		content = string(record)
	}
	body, err := poisonBody(name, content, reason)
	if err == nil && len(body) > maxBatch {
		body, err = poisonBody(name, cutMiddle(string(record), maxExcerpt), reason)
	}
	if err != nil {
		return fmt.Errorf("queue: poison: %w", err)
	}
	return q.Send(ctx, Message{Body: body})
}

// poisonBody returns the body of the message, JSON that contains only characters that SQS accepts.
func poisonBody(name string, content any, reason error) (string, error) {
	body, err := json.Marshal(map[string]any{"reason": cutMiddle(reason.Error(), maxReason), name: content},
		json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	return noncharacters.Replace(string(body)), err
}

// noncharacters escapes the two characters that JSON allows and SQS does not.
var noncharacters = strings.NewReplacer("\uFFFE", `\ufffe`, "\uFFFF", `\uffff`)

// cutMiddle returns s if it has at most limit bytes, and otherwise its beginning and its end with a mark between them.
func cutMiddle(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	begin, end := excerpt.Start(s, limit/2), excerpt.End(s, limit/2)
	return fmt.Sprintf("%s …%d bytes cut… %s", begin, len(s)-len(begin)-len(end), end)
}
