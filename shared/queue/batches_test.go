package queue

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Every message is in one batch. SQS accepts each batch, unless it consists of one message that is too large. No batch
// has room for the first message of the next one.
func TestBatches(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("x", 2*maxBatch)
	sizes := []int{1, 1, 1, 1000, 300 << 10, 600 << 10, maxBatch - 1, maxBatch, 2 * maxBatch}
	rapid.Check(t, func(t *rapid.T) {
		messages := make([]Message, rapid.IntRange(0, 60).Draw(t, "messages"))
		for i := range messages {
			messages[i].Body = longest[:rapid.SampledFrom(sizes).Draw(t, "size")]
		}
		next := 0
		for first, batch := range batches(messages) {
			if first != next {
				t.Fatalf("got a batch from message %d, want one from message %d", first, next)
			}
			size := 0
			for _, m := range batch {
				if len(m.Body) != len(messages[next].Body) {
					t.Fatalf("got another message than message %d", next)
				}
				size += len(m.Body)
				next++
			}
			if len(batch) == 0 || len(batch) > 10 || (size > 1<<20 && len(batch) > 1) {
				t.Fatalf("got a batch of %d messages with %d bytes, which SQS does not accept", len(batch), size)
			}
			if next < len(messages) {
				m := messages[next]
				if len(batch) < 10 && size+len(m.Body) <= 1<<20 {
					t.Fatalf("a batch of %d messages with %d bytes has room for the next message", len(batch), size)
				}
			}
		}
		if next != len(messages) {
			t.Fatalf("got %d messages in batches, want %d", next, len(messages))
		}
	})
}
