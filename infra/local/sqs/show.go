package sqs

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
)

type receiveOutput struct {
	Messages []*shownMessage `json:"Messages,omitempty"`
}

type shownMessage struct {
	MessageID       string                   `json:"MessageId"`
	ReceiptHandle   string                   `json:"ReceiptHandle"`
	MD5OfBody       string                   `json:"MD5OfBody"`
	Body            string                   `json:"Body"`
	System          map[string]string        `json:"Attributes,omitempty"`
	MD5OfAttributes string                   `json:"MD5OfMessageAttributes,omitzero"`
	Attributes      map[string]wireAttribute `json:"MessageAttributes,omitempty"`
}

// systemAttributes are what a receive can tell of a message beside its content; "" where the message has none.
var systemAttributes = map[string]func(s *Store, t *taken, c *content) string{
	"SenderId":                         func(s *Store, _ *taken, _ *content) string { return s.options.Account },
	"SentTimestamp":                    func(_ *Store, t *taken, _ *content) string { return strconv.FormatInt(t.sent, 10) },
	"ApproximateReceiveCount":          func(_ *Store, t *taken, _ *content) string { return strconv.FormatUint(uint64(t.receives), 10) },
	"ApproximateFirstReceiveTimestamp": func(_ *Store, t *taken, _ *content) string { return strconv.FormatInt(t.first, 10) },
	"MessageGroupId":                   func(_ *Store, t *taken, _ *content) string { return t.group },
	attributeTrace:                     func(_ *Store, _ *taken, c *content) string { return c.Trace },
	"DeadLetterQueueSourceArn":         func(_ *Store, t *taken, _ *content) string { return t.source },
	"SequenceNumber":                   none, // of FIFO queues
	"MessageDeduplicationId":           none,
}

func none(*Store, *taken, *content) string { return "" }

// checkNames refuses names that mean nothing. The older of the two lists may
// name attributes of queues: AWS takes them, and shows none.
func (in *receiveInput) checkNames() error {
	for _, name := range in.AttributeNames {
		if attributes[name].get == nil && !fifoAttributes[name] && systemAttributes[name] == nil && name != attributeAll {
			return unknownAttribute(name)
		}
	}
	for _, name := range in.SystemNames {
		if systemAttributes[name] == nil && name != attributeAll {
			return unknownAttribute(name)
		}
	}
	return nil
}

// show reads the content of a message that was taken, and shows what was asked
// for; nil when the message has gone meanwhile.
func (s *Store) show(in *receiveInput, t taken) (*shownMessage, error) {
	value, closer, err := s.folder.DB.Get(bodyKey(t.number))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading a message: %w", err)
	}
	content, err := parseContent(value)
	if err := errors.Join(err, closer.Close()); err != nil {
		return nil, fmt.Errorf("reading message %d: %w", t.number, err)
	}
	shown := &shownMessage{
		MessageID: uuid.UUID(t.id).String(), ReceiptHandle: t.receipt.String(), Body: content.Body, MD5OfBody: sumOf(content.Body),
		System: map[string]string{},
	}
	all := slices.Contains(in.AttributeNames, attributeAll) || slices.Contains(in.SystemNames, attributeAll)
	for name, of := range systemAttributes {
		if !all && !slices.Contains(in.AttributeNames, name) && !slices.Contains(in.SystemNames, name) {
			continue
		}
		if value := of(s, &t, content); value != "" {
			shown.System[name] = value
		}
	}
	chosen := slices.DeleteFunc(content.Attributes, func(a attributeValue) bool { return !in.wants(a.Name) })
	shown.MD5OfAttributes = sumOfAttributes(chosen)
	shown.Attributes = wireAttributes(chosen)
	return shown, nil
}

// wants says whether a receive asks for a message attribute: by its name, by the
// beginning of its name, or all, for which AWS also takes an asterisk.
func (in *receiveInput) wants(name string) bool {
	return slices.ContainsFunc(in.MessageNames, func(wanted string) bool {
		prefix, isPrefix := strings.CutSuffix(wanted, ".*")
		return wanted == name || wanted == attributeAll || wanted == "*" || isPrefix && strings.HasPrefix(name, prefix)
	})
}

func wireAttributes(values []attributeValue) map[string]wireAttribute {
	shown := make(map[string]wireAttribute, len(values))
	for _, v := range values {
		a := wireAttribute{DataType: v.Type}
		if v.Binary {
			a.Binary = []byte(v.Value)
		} else {
			a.String = &v.Value
		}
		shown[v.Name] = a
	}
	return shown
}
