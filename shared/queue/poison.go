package queue

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of what a failure queue is sent. A body that is longer than maxBatch in whole is sent as its two ends, which may grow
// sixfold as JSON.
const (
	keptEnd   = 64 << 10
	maxReason = 4 << 10
)

// Poison sends a record that can't be made sense of to the queue, as {"reason", "record"}, so that it blocks nothing and is not
// lost. The record is in the message as it is; if it is no JSON, as text, and if it is too long for a message, as text of its
// beginning and its end. Error: *SendError.
func (q Queue) Poison(ctx context.Context, record []byte, reason error) error {
	return q.poison(ctx, "record", record, reason)
}

// PoisonMessage is Poison for a queue's message: {"reason", "message": {"messageId", "body"}}.
func (q Queue) PoisonMessage(ctx context.Context, id, body string, reason error) error {
	message, err := json.Marshal(map[string]string{"messageId": id, "body": body}, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return fmt.Errorf("queue: poison: %w", err)
	}
	return q.poison(ctx, "message", message, reason)
}

func (q Queue) poison(ctx context.Context, name string, what []byte, reason error) error {
	body, err := poisonBody(name, what, reason)
	if err != nil {
		return err
	}
	return q.Send(ctx, Message{Body: body})
}

// poisonBody is the message's JSON, in characters that SQS takes.
func poisonBody(name string, what []byte, reason error) (string, error) {
	value := jsontext.Value(what)
	if !value.IsValid() {
		value = nil
	}
	text := strings.ToValidUTF8(cut(reason.Error(), maxReason), "\uFFFD")
	body, err := poisonJSON(name, text, value, what)
	if err == nil && len(body) > maxBatch {
		body, err = poisonJSON(name, text, nil, []byte(cut(string(what), 2*keptEnd)))
	}
	if err != nil {
		return "", fmt.Errorf("queue: poison: %w", err)
	}
	return body, nil
}

func poisonJSON(name, reason string, value jsontext.Value, text []byte) (string, error) {
	var whole any = value
	if value == nil {
		whole = strings.ToValidUTF8(string(text), "\uFFFD")
	}
	body, err := json.Marshal(map[string]any{"reason": reason, name: whole}, json.Deterministic(true))
	return noncharacters.Replace(string(body)), err
}

// noncharacters are the two that JSON may hold as they are and SQS refuses.
var noncharacters = strings.NewReplacer("\uFFFE", `\ufffe`, "\uFFFF", `\uffff`)

// cut is s if it is no longer than limit bytes, else its beginning and its end with a mark between.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	begin, end := limit/2, len(s)-limit/2
	for begin > 0 && !utf8.RuneStart(s[begin]) {
		begin--
	}
	for end < len(s) && !utf8.RuneStart(s[end]) {
		end++
	}
	return fmt.Sprintf("%s …%d bytes cut… %s", s[:begin], end-begin, s[end:])
}
