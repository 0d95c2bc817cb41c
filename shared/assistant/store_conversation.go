package assistant

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
)

// summaryRecord is what is kept of a conversation beside its messages.
type summaryRecord struct {
	// Note is in place of the messages up to UpTo.
	Note string `dynamodbav:"note,omitempty"`
	UpTo string `dynamodbav:"upTo,omitempty"`
	// ClearedTo is the message up to which everything counts as deleted.
	ClearedTo string `dynamodbav:"clearedTo,omitempty"`
}

// Attributes of it that are written one by one.
const (
	attrNote      = "note"
	attrUpTo      = "upTo"
	attrClearedTo = "clearedTo"
)

// lastPart is behind every part of a message.
const lastPart = 9

// errChanged says that a conversation is not what it was any more.
var errChanged = errors.New("assistant: the conversation has changed meanwhile")

// turnWrites store a turn. They have no condition of their own: the end of its generation, in the same transaction, comes once.
func (s store) turnWrites(projectID string, t turn) ([]db.Write, error) {
	var writes []db.Write
	for _, m := range []message{t.question, t.answer} {
		items, err := m.parts()
		if err != nil {
			return nil, err
		}
		for n, item := range items {
			writes = append(writes, s.conversations.Put(db.MessageKey(projectID, m.ID, n), item))
		}
	}
	return writes, nil
}

// notCleared fails once a conversation was cleared behind a message.
func (s store) notCleared(projectID, messageID string) db.Write {
	cleared := expression.Name(attrClearedTo)
	return s.conversations.Check(db.SummaryKey(projectID),
		expression.AttributeNotExists(cleared).Or(cleared.LessThan(expression.Value(messageID))))
}

// recall reads a conversation's summary and its last messages, oldest first, as many as up to so many items hold and one call brings.
func (s store) recall(ctx context.Context, projectID string, items int) (summary summaryRecord, last []message, err error) {
	page, err := s.conversations.Query(ctx, db.Query{
		Prefix: db.ProjectPartition(projectID), Descending: true, Limit: items, Once: true,
	})
	if err != nil {
		return summary, nil, err
	}
	var p puzzle
	for _, item := range page.Items {
		if db.KeyOf(item) == db.SummaryKey(projectID) {
			summary, err = db.Decode[summaryRecord](item)
		} else {
			err = p.add(db.MessagesOf(projectID), item)
		}
		if err != nil {
			return summary, nil, err
		}
	}
	return summary, p.backwards(), nil
}

// messages reads n whole messages from behind one on, "" for the beginning; fewer, if together they are larger than size bytes of
// JSON, or there are no more.
func (s store) messages(ctx context.Context, projectID, after string, n, size int) ([]message, error) {
	q := db.Query{Prefix: db.MessagesOf(projectID), Limit: n}
	if after != "" {
		q.After = db.MessageKey(projectID, after, lastPart)
	}
	var p puzzle
	for {
		page, err := s.conversations.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			if err := p.add(q.Prefix, item); err != nil {
				return nil, err
			}
			if p.bytes > size {
				return p.messages, nil
			}
		}
		if page.Next.IsZero() || len(p.messages) >= n {
			return p.messages, nil
		}
		q.After = page.Next
	}
}

// lastMessage is the id of the last message that is stored of a conversation, "" if there is none.
func (s store) lastMessage(ctx context.Context, projectID string) (string, error) {
	q := db.Query{Prefix: db.MessagesOf(projectID), Descending: true, Limit: 1, KeysOnly: true}
	page, err := s.conversations.Query(ctx, q)
	if err != nil || len(page.Items) == 0 {
		return "", err
	}
	messageID, _, _ := strings.Cut(q.Prefix.Rest(db.KeyOf(page.Items[0])), "#")
	return messageID, nil
}

// clearedTo is the message up to which a conversation was cleared, "" if it never was.
func (s store) clearedTo(ctx context.Context, projectID string) (string, error) {
	item, err := s.conversations.Get(ctx, db.SummaryKey(projectID))
	if errors.Is(err, db.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	summary, err := db.Decode[summaryRecord](item)
	return summary.ClearedTo, err
}

// clear has everything up to a message, and the note, count as deleted, in a project that is there. Error: db.ErrNotFound.
func (s store) clear(ctx context.Context, projectID, upTo string, there db.Write) error {
	cleared := expression.Name(attrClearedTo)
	update := expression.Set(cleared, expression.Value(upTo)).
		Remove(expression.Name(attrNote)).Remove(expression.Name(attrUpTo))
	err := s.transact(ctx, there, s.conversations.Update(db.SummaryKey(projectID), update).
		If(expression.AttributeNotExists(cleared).Or(cleared.LessThan(expression.Value(upTo)))))
	switch {
	case db.FailedAt(err, 0):
		return db.ErrNotFound
	case db.FailedAt(err, 1): // more was cleared meanwhile
		return nil
	}
	return err
}

// sweepPage is how many items are deleted before there is a look at the time.
const sweepPage = 200

// sweep deletes the messages up to one that was cleared, oldest first, as long as goOn says.
func (s store) sweep(ctx context.Context, projectID, upTo string, goOn func() bool) error {
	q := db.Query{Prefix: db.MessagesOf(projectID), KeysOnly: true, Limit: sweepPage}
	last := db.MessageKey(projectID, upTo, lastPart)
	for goOn() {
		page, err := s.conversations.Query(ctx, q)
		if err != nil {
			return err
		}
		var keys []db.Key
		for _, item := range page.Items {
			if key := db.KeyOf(item); key.SK <= last.SK {
				keys = append(keys, key)
			}
		}
		if err := s.conversations.DeleteAll(ctx, keys...); err != nil {
			return err
		}
		if page.Next.IsZero() || len(keys) < len(page.Items) {
			return nil
		}
		q.After = page.Next
	}
	return nil
}

// remember stores a note in place of the messages up to one, if the summary is what it was, in a project that is there.
// Errors: errChanged, db.ErrNotFound.
func (s store) remember(ctx context.Context, projectID string, before summaryRecord, note, upTo string, there db.Write) error {
	update := expression.Set(expression.Name(attrNote), expression.Value(note)).Set(expression.Name(attrUpTo), expression.Value(upTo))
	err := s.transact(ctx, there, s.conversations.Update(db.SummaryKey(projectID), update).
		If(unchanged(attrUpTo, before.UpTo)).If(unchanged(attrClearedTo, before.ClearedTo)))
	switch {
	case db.FailedAt(err, 0):
		return db.ErrNotFound
	case db.FailedAt(err, 1):
		return errChanged
	}
	return err
}

// unchanged is the condition that an attribute still says what it did, "" for nothing.
func unchanged(attribute, before string) expression.ConditionBuilder {
	if before == "" {
		return expression.AttributeNotExists(expression.Name(attribute))
	}
	return expression.Name(attribute).Equal(expression.Value(before))
}

// amend puts a message in the place of the one with its id, in a project that is there. Errors: errChanged, if there is none;
// db.ErrNotFound.
func (s store) amend(ctx context.Context, projectID string, m message, there db.Write) error {
	items, err := m.parts()
	if err != nil {
		return err
	}
	writes := []db.Write{there}
	for n, item := range items {
		write := s.conversations.Put(db.MessageKey(projectID, m.ID, n), item)
		if n == 0 {
			write = write.If(s.conversations.Exists())
		}
		writes = append(writes, write)
	}
	for n := len(items); n < mostParts; n++ { // it may have been longer
		writes = append(writes, s.conversations.Delete(db.MessageKey(projectID, m.ID, n)))
	}
	err = s.transact(ctx, writes...)
	switch {
	case db.FailedAt(err, 0):
		return db.ErrNotFound
	case db.FailedAt(err, 1):
		return errChanged
	}
	return err
}
