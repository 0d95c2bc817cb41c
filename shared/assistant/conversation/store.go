package conversation

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// Store stores conversations in a table. The parameter named "exists" of its methods is a condition check that fails if
// the project was deleted.
type Store struct {
	client *db.Client
	table  db.Table
}

// NewStore returns a Store that uses the given table.
func NewStore(client *db.Client, table db.Table) Store { return Store{client: client, table: table} }

// partRecord is the stored form of a part of a message. Only the first part has Role, Status, AuthorID and Chunks.
type partRecord struct {
	Role      model.Role      `dynamodbav:"role,omitempty"`
	Status    Status          `dynamodbav:"status,omitempty"`
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`
	AuthorID  string          `dynamodbav:"authorId,omitempty"`
	// Chunks is the number of parts of the message.
	Chunks int `dynamodbav:"chunks,omitempty"`
	// Body is this part's chunk of the packed JSON of a messageBody.
	Body []byte `dynamodbav:"body"`
}

// messageBody contains the fields of a message that are stored in chunks, because some of them can be long.
type messageBody struct {
	Content string          `json:"content"`
	Code    string          `json:"code,omitzero"`
	Actions []action.Action `json:"actions,omitempty"`
	Model   string          `json:"model,omitzero"`
	Usage   model.Usage     `json:"usage,omitzero"`
}

// summaryRecord is the item with a conversation's summary and the ID up to which its messages are cleared.
type summaryRecord struct {
	// Text is the summary of the messages up to and including UpTo.
	Text string `dynamodbav:"note,omitempty"`
	UpTo string `dynamodbav:"upTo,omitempty"`
	// ClearedUpTo is the ID that was generated when the conversation was last cleared. Messages with smaller IDs are
	// hidden.
	ClearedUpTo string `dynamodbav:"clearedTo,omitempty"`
}

// Attributes of summaryRecord that are updated individually.
const (
	attrText        = "note"
	attrUpTo        = "upTo"
	attrClearedUpTo = "clearedTo"
)

const (
	// lastPart is greater than every part number. It is used in keys that sort after all parts of a message.
	lastPart = 9
	// recallItems is the number of items that Recall reads: the summary and, if all messages have one part, 16 turns.
	recallItems = 1 + 2*16
	// maxPageBytes is the size of the JSON after which Messages stops reading, so that a page fits into one response.
	maxPageBytes = 4 << 20
	// questionPage is the number of messages that Questions keeps in memory.
	questionPage = 100
	// deletePageSize is the number of items that DeleteCleared reads and deletes between two calls of shouldContinue.
	deletePageSize = 200
)

// Recall reads the memory of a conversation in one call: the summary and the latest complete messages.
func (s Store) Recall(ctx context.Context, projectID string) (Memory, error) {
	page, err := s.table.Query(ctx, db.Query{
		Prefix: db.ProjectPartition(projectID), Descending: true, Limit: recallItems, Once: true,
	})
	if err != nil {
		return Memory{}, err
	}
	var summary summaryRecord
	var a assembler
	for _, item := range page.Items {
		if db.KeyOf(item) == db.SummaryKey(projectID) {
			if summary, err = db.Decode[summaryRecord](item); err != nil {
				return Memory{}, err
			}
		} else {
			a.add(ctx, db.MessagesOf(projectID), item)
		}
	}
	omitUpTo := max(summary.UpTo, summary.ClearedUpTo) // summarized or cleared
	memory := Memory{
		Summary: summary.Text, SummaryUpTo: summary.UpTo, ClearedUpTo: summary.ClearedUpTo, Last: omitUpTo,
	}
	if len(a.messages) > 0 {
		memory.Last = max(omitUpTo, a.messages[0].ID)
	}
	recent := slices.DeleteFunc(a.messages, func(m Message) bool { return m.ID <= omitUpTo })
	slices.Reverse(recent)
	memory.Turns = pairTurns(recent)
	return memory, nil
}

// Messages reads n messages that are not cleared, oldest first. The parameter named "after" is the ID of the last
// message that the caller has already read, or "" to start with the first message. Messages returns fewer messages if
// there are no more, or if they exceed 4 MiB of JSON. It returns more than n, but fewer than 2n messages, if some
// messages have several parts.
func (s Store) Messages(ctx context.Context, projectID, after string, n int) ([]Message, error) {
	for {
		messages, err := s.messages(ctx, projectID, after, n, maxPageBytes)
		if err != nil || len(messages) == 0 {
			return nil, err
		}
		// clearedUpTo must be read after the messages. Otherwise, a clear that begins between the two reads could
		// delete some of the messages, and Messages would return the others.
		clearedUpTo, err := s.clearedUpTo(ctx, projectID)
		if err != nil {
			return nil, err
		}
		if messages[0].ID > clearedUpTo {
			return messages, nil
		}
		after = clearedUpTo
	}
}

// messages reads n complete messages, or more or fewer in the same cases as Messages, but with a maximum of maxBytes
// bytes of JSON. "after" has the same meaning as in Messages.
func (s Store) messages(ctx context.Context, projectID, after string, n, maxBytes int) ([]Message, error) {
	q := db.Query{Prefix: db.MessagesOf(projectID), Limit: n}
	if after != "" {
		q.After = db.MessageKey(projectID, after, lastPart)
	}
	var a assembler
	for {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			a.add(ctx, q.Prefix, item)
			if a.bytes > maxBytes {
				return a.messages, nil
			}
		}
		if page.Next.IsZero() || len(a.messages) >= n {
			return a.messages, nil
		}
		q.After = page.Next
	}
}

// Question is a message that a user wrote, for the export of the user's account.
type Question struct {
	ID        string          `json:"id"`
	ProjectID string          `json:"projectId"`
	Content   string          `json:"content"`
	CreatedAt clock.Timestamp `json:"createdAt"`
}

// Questions calls use with each message of a user in a project's conversation, oldest first, except cleared messages.
// It stops at the first error of use.
func (s Store) Questions(ctx context.Context, userID, projectID string, use func(any) error) error {
	for after := ""; ; {
		messages, err := s.Messages(ctx, projectID, after, questionPage)
		if err != nil || len(messages) == 0 {
			return err
		}
		for _, m := range messages {
			after = m.ID
			if m.Role != model.User || m.AuthorID != userID {
				continue
			}
			if err := use(Question{ID: m.ID, ProjectID: projectID, Content: m.Content, CreatedAt: m.CreatedAt}); err != nil {
				return err
			}
		}
	}
}

// clearedUpTo reads the ID up to which the messages are cleared, "" if the conversation was never cleared.
func (s Store) clearedUpTo(ctx context.Context, projectID string) (string, error) {
	item, err := s.table.Get(ctx, db.SummaryKey(projectID))
	if errors.Is(err, db.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	summary, err := db.Decode[summaryRecord](item)
	return summary.ClearedUpTo, err
}

// ErrCleared reports that a conversation was cleared after a turn began.
var ErrCleared = errors.New("conversation: cleared after the turn began")

// TurnWrites returns the writes that store a turn. The caller must execute them in one transaction, which must succeed
// only once: later, it would overwrite the changes of Replace. Error of the writes: ErrCleared.
func (s Store) TurnWrites(projectID string, t Turn) ([]db.Write, error) {
	cleared := expression.Name(attrClearedUpTo)
	notCleared := expression.AttributeNotExists(cleared).Or(cleared.LessThan(expression.Value(t.Question.ID)))
	writes := []db.Write{s.table.Check(db.SummaryKey(projectID), notCleared).Else(ErrCleared)}
	for _, m := range []Message{t.Question, t.Answer} {
		items, err := m.parts()
		if err != nil {
			return nil, err
		}
		for n, item := range items {
			writes = append(writes, s.table.Put(db.MessageKey(projectID, m.ID, n), item))
		}
	}
	return writes, nil
}

// Replace replaces the stored message that has the ID of m. It does nothing if there is no such message, or if the
// project was deleted.
func (s Store) Replace(ctx context.Context, projectID string, m Message, exists db.Write) error {
	items, err := m.parts()
	if err != nil {
		return err
	}
	tx := s.client.Tx(exists.Else(errUnneeded))
	for n, item := range items {
		write := s.table.Put(db.MessageKey(projectID, m.ID, n), item)
		if n == 0 {
			write = write.If(s.table.Exists()).Else(errUnneeded)
		}
		tx.Add(write)
	}
	for n := len(items); n < maxParts; n++ { // the old message may have had more parts
		tx.Add(s.table.Delete(db.MessageKey(projectID, m.ID, n)))
	}
	return ifNeeded(tx.Commit(ctx))
}

// SaveSummary stores a summary of the messages up to and including upTo. The parameter named "before" is the memory
// from which the summary was generated. SaveSummary does nothing if the stored summary has changed since this memory
// was read, if the conversation was cleared since then, or if the project was deleted.
func (s Store) SaveSummary(
	ctx context.Context, projectID string, before Memory, summary, upTo string, exists db.Write,
) error {
	update := expression.Set(expression.Name(attrText), expression.Value(summary)).
		Set(expression.Name(attrUpTo), expression.Value(upTo))
	return ifNeeded(s.client.Tx(
		exists.Else(errUnneeded),
		s.table.Update(db.SummaryKey(projectID), update).If(isUnchanged(attrUpTo, before.SummaryUpTo)).
			If(isUnchanged(attrClearedUpTo, before.ClearedUpTo)).Else(errUnneeded),
	).Commit(ctx))
}

// errUnneeded reports that a write is no longer needed, because the data has changed.
var errUnneeded = errors.New("conversation: the write is no longer needed")

// ifNeeded returns the error of a write, or nil if the write is no longer needed.
func ifNeeded(err error) error {
	if errors.Is(err, errUnneeded) {
		return nil
	}
	return err
}

// isUnchanged returns the condition that an attribute still has the given value, or does not exist if value is "".
func isUnchanged(attribute, value string) expression.ConditionBuilder {
	if value == "" {
		return expression.AttributeNotExists(expression.Name(attribute))
	}
	return expression.Name(attribute).Equal(expression.Value(value))
}

// LastMessageID returns the ID of the latest stored message, "" if there is none.
func (s Store) LastMessageID(ctx context.Context, projectID string) (string, error) {
	q := db.Query{Prefix: db.MessagesOf(projectID), Descending: true, Limit: 1, KeysOnly: true}
	page, err := s.table.Query(ctx, q)
	if err != nil || len(page.Items) == 0 {
		return "", err
	}
	messageID, _, _ := strings.Cut(q.Prefix.Rest(db.KeyOf(page.Items[0])), "#")
	return messageID, nil
}

// Clear hides all messages up to and including upTo, and removes the summary. It does not delete the messages: call
// DeleteCleared afterwards. Error: the error of exists, which checks that the project exists.
func (s Store) Clear(ctx context.Context, projectID, upTo string, exists db.Write) error {
	cleared := expression.Name(attrClearedUpTo)
	update := expression.Set(cleared, expression.Value(upTo)).
		Remove(expression.Name(attrText)).Remove(expression.Name(attrUpTo))
	notCleared := expression.AttributeNotExists(cleared).Or(cleared.LessThan(expression.Value(upTo)))
	return ifNeeded(s.client.Tx(
		exists,
		s.table.Update(db.SummaryKey(projectID), update).If(notCleared).Else(errUnneeded), // another call has cleared them
	).Commit(ctx))
}

// DeleteCleared deletes the messages up to and including upTo, oldest first. It stops when all of them are deleted, or
// when shouldContinue returns false.
func (s Store) DeleteCleared(ctx context.Context, projectID, upTo string, shouldContinue func() bool) error {
	q := db.Query{Prefix: db.MessagesOf(projectID), KeysOnly: true, Limit: deletePageSize}
	last := db.MessageKey(projectID, upTo, lastPart)
	for shouldContinue() {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return err
		}
		var keys []db.Key
		for _, item := range page.Items {
			if key := db.KeyOf(item); key.SK <= last.SK {
				keys = append(keys, key)
			}
		}
		if err := s.table.DeleteAll(ctx, keys...); err != nil {
			return err
		}
		if page.Next.IsZero() || len(keys) < len(page.Items) {
			return nil
		}
		q.After = page.Next
	}
	return nil
}
