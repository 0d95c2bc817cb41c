package conversation

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/project/content"
)

var epoch = time.Date(2031, 5, 15, 10, 5, 20, 500e6, time.UTC)

// fixture is a Store with an embedded DynamoDB.
type fixture struct {
	client *db.Client
	table  db.Table
	store  Store
	ids    *id.Generator
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	clock := slicetest.NewClock(epoch, 0)
	sdk := dynamotest.Client(dynamotest.StartServer(t))
	client := db.Wrap(sdk, clock.Now)
	table := client.Table(slicetest.Table(t, sdk, "conversations"))
	return &fixture{
		client: client, table: table, store: NewStore(client, table), ids: id.NewGenerator(clock.Now, rand.Reader),
	}
}

// For all page sizes, message sizes and numbers of parts, the pages together contain every complete message once, in
// order. Incomplete messages, some of whose parts are already deleted, are ignored.
func TestPagesContainAllMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rapid.Check(t, func(t *rapid.T) {
		projectID := f.ids.New(id.Project)
		want, turns := f.storeMessages(t, projectID)
		pageSize := rapid.IntRange(1, 6).Draw(t, "page size")
		maxBytes := rapid.IntRange(0, 500).Draw(t, "bytes")
		if diff := cmp.Diff(want, f.readPages(t, projectID, pageSize, maxBytes)); diff != "" {
			t.Fatalf("messages in pages of %d (-want +got):\n%s", pageSize, diff)
		}
		if diff := cmp.Diff(turns, f.recall(t, projectID)); diff != "" {
			t.Fatalf("recalled messages (-want +got):\n%s", diff)
		}
	})
}

// A message with a damaged part is omitted. The others are not affected.
func TestDamagedMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	projectID := f.ids.New(id.Project)
	put := func(messageID, text, part string, item db.Item) {
		m := Message{ID: messageID, Role: model.User, Content: text}
		parts, err := m.parts()
		check(t, err)
		maps.Copy(parts[0], item)
		key := db.MessageKey(projectID, m.ID, 0)
		key.SK = strings.TrimSuffix(key.SK, "0") + part
		_, err = f.client.Do(t.Context(), f.table.Put(key, parts[0]))
		check(t, err)
	}
	for _, item := range []db.Item{
		{"createdAt": &types.AttributeValueMemberS{Value: "yesterday"}},
		{"body": &types.AttributeValueMemberB{Value: []byte("not packed")}},
		{"chunks": &types.AttributeValueMemberN{Value: "4000000000000000000"}},
	} {
		put(f.ids.New(id.Message), "damaged", "0", item)
	}
	put(f.ids.New(id.Message), "damaged", "last", nil)
	questionID, answerID := NewTurnIDs(f.ids, "")
	put(questionID, "first", "0", nil)
	put(answerID, "second", "0", nil)
	messages, err := f.store.Messages(t.Context(), projectID, "", 100)
	if diff := cmp.Diff([]string{"first", "second"}, contentsOf(messages)); err != nil || diff != "" {
		t.Errorf("messages, %v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"first", "second"}, f.recall(t, projectID)); diff != "" {
		t.Errorf("recalled messages (-want +got):\n%s", diff)
	}
}

// storeMessages stores random messages. It returns the contents of the complete ones, and of those whose turn is complete,
// in order.
func (f *fixture) storeMessages(t *rapid.T, projectID string) (complete, turns []string) {
	complete, turns = []string{}, []string{}
	var writes []db.Write
	for range rapid.IntRange(0, 4).Draw(t, "turns") {
		questionID, answerID := NewTurnIDs(f.ids, "")
		before := len(complete)
		for _, messageID := range []string{questionID, answerID} {
			text := randomText(rapid.IntRange(0, 100).Draw(t, "size"))
			parts, err := Message{ID: messageID, Role: model.User, Content: text}.parts()
			check(t, err)
			parts = split(t, parts[0], rapid.IntRange(1, 3).Draw(t, "parts"))
			deleted := rapid.SampledFrom([]int{-1, -1, -1, -1, 0, 1, 2}).Draw(t, "deleted part") // -1: none
			if deleted < 0 || deleted >= len(parts) {
				deleted = -1
				complete = append(complete, text)
			}
			if rapid.IntRange(0, 9).Draw(t, "extra part") == 0 { // a part that does not belong to the message
				parts = append(parts, parts[len(parts)-1])
			}
			for n, part := range parts {
				if n != deleted {
					writes = append(writes, f.table.Put(db.MessageKey(projectID, messageID, n), part))
				}
			}
		}
		if turn := complete[before:]; len(turn) == 2 {
			turns = append(turns, turn...)
		}
	}
	if len(writes) > 0 {
		check(t, f.client.Tx(writes...).Commit(context.Background()))
	}
	return complete, turns
}

// recall returns the contents of the messages that Recall reads.
func (f *fixture) recall(t rapid.TB, projectID string) []string {
	memory, err := f.store.Recall(context.Background(), projectID)
	check(t, err)
	texts := []string{}
	for _, turn := range memory.Turns {
		texts = append(texts, turn.Question.Content, turn.Answer.Content)
	}
	return texts
}

// readPages reads all messages of a project in pages of at most pageSize messages, and returns their contents. Like
// httpapi.ReadPage, it reads one more message than fits into the page.
func (f *fixture) readPages(t *rapid.T, projectID string, pageSize, maxBytes int) []string {
	texts := []string{}
	for after := ""; ; {
		page, err := f.store.messages(context.Background(), projectID, after, pageSize+1, maxBytes)
		check(t, err)
		if len(page) == 0 {
			return texts
		}
		size := 0
		for _, message := range page[:max(0, len(page)-2)] {
			size += len(message.Content)
		}
		if size > maxBytes {
			t.Fatalf("got %d bytes before the last two messages, want at most %d", size, maxBytes)
		}
		page = page[:min(len(page), pageSize)]
		texts = append(texts, contentsOf(page)...)
		after = page[len(page)-1].ID
	}
}

// contentsOf returns the contents of messages.
func contentsOf(messages []Message) []string {
	texts := []string{}
	for _, message := range messages {
		texts = append(texts, message.Content)
	}
	return texts
}

func check(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// randomText returns n characters of text. Compression makes it smaller by at most a quarter.
func randomText(n int) string {
	data := make([]byte, n)
	_, _ = rand.Read(data)
	return base64.StdEncoding.EncodeToString(data)[:n]
}

// split divides the only part of a short message into n parts.
func split(t *rapid.T, part db.Item, n int) []db.Item {
	record, err := db.Decode[partRecord](part)
	check(t, err)
	record.Chunks = n
	body := record.Body
	parts := make([]db.Item, n)
	for i := range parts {
		size := len(body) / (n - i)
		record.Body, body = body[:size], body[size:]
		parts[i], err = db.Encode(record)
		check(t, err)
		record = partRecord{} // only the first part has the attributes of the message
	}
	return parts
}

// The IDs of a turn are consecutive, and they are greater than the IDs of earlier turns.
func TestTurnIDs(t *testing.T) {
	t.Parallel()
	ids := id.NewGenerator(func() time.Time { return epoch }, rand.Reader)
	last := ""
	for range 1000 {
		questionID, answerID := NewTurnIDs(ids, "")
		if next, ok := id.Message.Next(questionID); !ok || next != answerID {
			t.Fatalf("got IDs %s and %s, want consecutive IDs", questionID, answerID)
		}
		if questionID <= last {
			t.Fatalf("got ID %s after %s, want a greater ID", questionID, last)
		}
		last = answerID
	}
}

// The part numbers of the largest message are valid in keys, and the largest message fits into a page.
func TestLimitsOfMessages(t *testing.T) {
	t.Parallel()
	if maxParts > lastPart || db.MessageKey(fuzzProject, fuzzMessage, maxParts-1).IsZero() {
		t.Errorf("maxParts: got %d, want at most %d and a valid key for the last part", maxParts, lastPart)
	}
	if content.MaxBytes > maxPageBytes {
		t.Errorf("content.MaxBytes: got %d, want at most %d, the size of a page", content.MaxBytes, maxPageBytes)
	}
}

// A message that stays too large without its code, actions and content is an error.
func TestMessageThatCannotBeStored(t *testing.T) {
	t.Parallel()
	name := make([]byte, content.MaxBytes)
	_, _ = rand.Read(name)
	_, err := Message{ID: fuzzMessage, Content: "Hello", Model: base64.StdEncoding.EncodeToString(name)}.parts()
	if !errors.Is(err, content.ErrTooLarge) {
		t.Errorf("got error %v, want content.ErrTooLarge", err)
	}
}
