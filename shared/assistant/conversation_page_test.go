package assistant

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"devplatform/shared/assistant/model"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

// However a conversation is cut into pages, and whatever its messages' sizes and parts, all are there, once, in their order; what is left
// of messages that are being deleted is not.
func TestPagesMakeTheWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client := db.Wrap(w.sdk, w.clock.Now)
	table := client.Table(w.names.conversations)
	rapid.Check(t, func(t *rapid.T) {
		app := w.ids.New(id.Project)
		var writes []db.Write
		var want []string
		for range rapid.IntRange(0, 12).Draw(t, "messages") {
			m := message{ID: w.ids.New(id.Message), Role: model.User, Content: noise(rapid.IntRange(0, 100).Draw(t, "size"))}
			parts, err := m.parts()
			w.must(err)
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
			w.must(client.Transact(context.Background(), writes...))
		}
		limit, size := rapid.IntRange(1, 6).Draw(t, "limit"), rapid.IntRange(0, 500).Draw(t, "bytes")
		var got []string
		for after := ""; ; {
			page, err := w.service.store.messages(context.Background(), app, after, limit+1, size)
			w.must(err)
			if len(page) == 0 {
				break
			}
			read := 0
			for _, m := range page[:max(0, len(page)-2)] {
				read += len(m.Content)
			}
			if read > size {
				t.Fatalf("%d bytes were read, and the next message, where %d would do", read, size)
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
		_, last, err := w.service.store.recall(context.Background(), app, 1000)
		w.must(err)
		got = nil
		for _, m := range last {
			got = append(got, m.Content)
		}
		if !slices.Equal(want, got) {
			t.Fatalf("backwards %d of %d messages", len(got), len(want))
		}
	})
}

// split cuts the one part of a message into some, as if it were longer than it is.
func split(t *rapid.T, part db.Item, n int) []db.Item {
	record, err := db.Decode[messageRecord](part)
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
		record = messageRecord{}
	}
	return parts
}
