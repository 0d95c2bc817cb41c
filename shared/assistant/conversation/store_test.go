package conversation

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/project/content"
)

// For all page sizes, message sizes and numbers of parts, the pages together have every complete message once, in
// order. Parts of messages that are being deleted are ignored.
func TestPagesHaveAllMessages(t *testing.T) {
	t.Parallel()
	clock := slicetest.NewClock(time.Date(2031, 5, 15, 10, 5, 20, 500e6, time.UTC), 0)
	sdk := dynamotest.Client(dynamotest.StartServer(t))
	client := db.Wrap(sdk, clock.Now)
	table := client.Table(slicetest.Table(t, sdk, "conversations"))
	store, ids := NewStore(client, table), id.NewGenerator(clock.Now, rand.Reader)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		app := ids.New(id.Project)
		var writes []db.Write
		var want []string
		for range rapid.IntRange(0, 12).Draw(t, "messages") {
			m := Message{ID: ids.New(id.Message), Role: model.User, Content: noise(rapid.IntRange(0, 100).Draw(t, "size"))}
			parts, err := m.parts()
			must(err)
			parts = split(t, parts[0], rapid.IntRange(1, 3).Draw(t, "parts"))
			lost := rapid.SampledFrom([]int{-1, -1, -1, -1, 0, 1, 2}).Draw(t, "lost")
			if lost >= len(parts) {
				lost = -1
			}
			if lost < 0 {
				want = append(want, m.Content)
			}
			if rapid.IntRange(0, 9).Draw(t, "too many") == 0 {
				parts = append(parts, parts[len(parts)-1])
			}
			for n, part := range parts {
				if n != lost {
					writes = append(writes, table.Put(db.MessageKey(app, m.ID, n), part))
				}
			}
		}
		if len(writes) > 0 {
			must(client.Transact(context.Background(), writes...))
		}
		limit, size := rapid.IntRange(1, 6).Draw(t, "limit"), rapid.IntRange(0, 500).Draw(t, "bytes")
		var got []string
		for after := ""; ; {
			page, err := store.messages(context.Background(), app, after, limit+1, size)
			must(err)
			if len(page) == 0 {
				break
			}
			read := 0
			for _, m := range page[:max(0, len(page)-2)] {
				read += len(m.Content)
			}
			if read > size {
				t.Fatalf("%d bytes and another message were read, but the limit is %d bytes", read, size)
			}
			page = page[:min(len(page), limit)]
			for _, m := range page {
				got = append(got, m.Content)
			}
			after = page[len(page)-1].ID
		}
		if !slices.Equal(want, got) {
			t.Fatalf("%d of %d messages", len(got), len(want))
		}
		_, last, err := store.latest(context.Background(), app, 1000)
		must(err)
		got = nil
		for _, m := range last {
			got = append(got, m.Content)
		}
		if !slices.Equal(want, got) {
			t.Fatalf("descending: %d of %d messages", len(got), len(want))
		}
	})
}

// The IDs of a turn are consecutive, and those of the next turn are larger.
func TestTurnIDs(t *testing.T) {
	t.Parallel()
	ids, last := id.NewGenerator(func() time.Time { return time.Date(2031, 5, 15, 10, 5, 20, 500e6, time.UTC) }, rand.Reader), ""
	for range 1000 {
		question, answer := NewTurnIDs(ids, "")
		if next, ok := id.Message.Next(question); !ok || next != answer || question <= last {
			t.Fatalf("%s, %s after %s", question, answer, last)
		}
		last = answer
	}
}

// noise returns n characters of text that compresses by at most a quarter.
func noise(n int) string {
	data := make([]byte, n)
	_, _ = rand.Read(data)
	return base64.StdEncoding.EncodeToString(data)[:n]
}

// split divides the only part of a message into n parts, as if the message were longer.
func split(t *rapid.T, part db.Item, n int) []db.Item {
	record, err := db.Decode[partRecord](part)
	if err != nil {
		t.Fatal(err)
	}
	record.Chunks = n
	body := record.Body
	parts := make([]db.Item, n)
	for i := range parts {
		cut := len(body) / (n - i)
		record.Body, body = body[:cut], body[cut:]
		if parts[i], err = db.Encode(record); err != nil {
			t.Fatal(err)
		}
		record = partRecord{}
	}
	return parts
}

// The number of parts of every message fits into its keys, and every message fits into a page.
func TestLimitsOfMessages(t *testing.T) {
	t.Parallel()
	if maxParts > lastPart || db.MessageKey(fuzzProject, fuzzMessage, maxParts-1).IsZero() {
		t.Errorf("%d parts", maxParts)
	}
	if content.MaxBytes > maxPageBytes {
		t.Error("the largest message does not fit into a page")
	}
}
