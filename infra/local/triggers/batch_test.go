package triggers

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/resources"
)

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestBatchesInOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, with(func(s *resources.EventSourceMapping) { s.BatchSize = 3 }))
		r.fake.put("a", "b", "a", "c", "a", "b", "d")
		r.Start()
		after(time.Second)
		equal(t, "batches", r.function.seen(), []string{"100 101 102", "103 104 105", "106"})
		equal(t, "position", r.savedPosition(t), "106")
		r.fake.put("e")
		after(time.Second)
		equal(t, "batches", r.function.seen()[3:], []string{"107"})
		r.close(t)
	})
}

func TestBatchingWindow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, with(func(s *resources.EventSourceMapping) { s.BatchSize, s.BatchingWindow = 3, 5*time.Second }))
		began := time.Now()
		r.Start()
		r.fake.put("a")
		after(3 * time.Second)
		r.fake.put("b")
		after(time.Second)
		equal(t, "batches before the window is over", r.function.seen(), []string(nil))
		after(5 * time.Second)
		r.fake.put("c", "d", "e")
		after(time.Second) // the batch is full
		r.fake.put("f")
		after(10 * time.Second)
		equal(t, "batches", r.function.seen(), []string{"100 101", "102 103 104", "105"})
		_, times := r.function.received()
		for i, want := range []time.Duration{5 * time.Second, 9 * time.Second, 15 * time.Second} {
			if got := times[i].Sub(began); got < want || got > want+200*time.Millisecond {
				t.Errorf("batch %d after %v, want %v", i, got, want)
			}
		}
		r.fake.put("g")
		after(time.Second)
		r.close(t) // the gathered records are not delivered, and not lost
		equal(t, "position", r.savedPosition(t), "105")
	})
}

func TestBatchesOfSixMegabytes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, with(func(s *resources.EventSourceMapping) { s.BatchSize, s.BatchingWindow = 100, time.Minute }))
		r.fake.put(strings.Split(strings.Repeat("k", 20), "")...)
		r.fake.change(func() {
			for i := range r.fake.streams[fakeARN].records {
				r.fake.streams[fakeARN].records[i].Dynamodb.NewImage["big"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", 390<<10)}
			}
		})
		r.Start()
		after(time.Second)
		seen := r.function.seen()
		if len(seen) != 1 || len(strings.Fields(seen[0])) != 15 { // 15 × 390 KB < 6 MB < 16 ×
			t.Fatalf("batches %q", seen)
		}
		after(time.Minute)
		if seen = r.function.seen(); len(seen) != 2 || len(strings.Fields(seen[1])) != 5 {
			t.Errorf("batches %q", seen)
		}
		r.close(t)
	})
}

func TestFilters(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, with(func(s *resources.EventSourceMapping) {
			s.Filters = []string{`{"dynamodb": {"NewImage": {"id": {"S": ["a"]}}}}`, `{"eventName": ["INSERT"], "dynamodb": {"Keys": {"id": {"S": ["bb"]}}}}`}
		}))
		r.fake.put("x", "a", "y", "bb", "z")
		r.Start()
		after(2 * time.Second)
		equal(t, "batches", r.function.seen(), []string{"101 103"})
		equal(t, "position", r.savedPosition(t), "104")
		r.fake.put("x", "x")
		after(2 * time.Second)
		equal(t, "batches", len(r.function.seen()), 1)
		equal(t, "position", r.savedPosition(t), "106")
		r.close(t)
	})
}

// failOn fails batches that contain one of these records.
func failOn(sequences ...string) func(context.Context, []string) (string, error) {
	return func(_ context.Context, batch []string) (string, error) {
		for _, poison := range sequences {
			if slices.Contains(batch, poison) {
				return "", errFunction
			}
		}
		return "{}", nil
	}
}

// A record that fails (102) is isolated, and retried until it is too old. Then the record behind it is too old, too.
func TestBisectIsolates(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, with(func(s *resources.EventSourceMapping) { s.MaximumRecordAge = time.Minute }), func(r *rig) { r.backoff = 25 * time.Second })
		r.function.handle = failOn("102")
		r.fake.put("a", "b", "c", "d")
		r.Start()
		after(5 * time.Minute)
		equal(t, "batches", r.function.seen(), []string{"100 101 102 103", "100 101", "102 103", "102", "102"})
		equal(t, "discarded", r.discardedMessages(t), []string{"RecordAgeExceeded 102-102 4", "RecordAgeExceeded 103-103 2"})
		equal(t, "position", r.savedPosition(t), "103")
	})
}

func TestPartialResponses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		tries := 0
		r.function.handle = func(context.Context, []string) (string, error) {
			if tries++; tries == 1 {
				return `{"batchItemFailures": [{"itemIdentifier": "103"}, {"itemIdentifier": "102"}]}`, nil
			}
			time.Sleep(time.Second)
			return `{"batchItemFailures": []}`, nil
		}
		r.fake.put("a", "b", "c", "d")
		r.Start()
		after(500 * time.Millisecond) // during the second attempt
		equal(t, "position", r.savedPosition(t), "101")
		after(time.Minute)
		equal(t, "batches", r.function.seen(), []string{"100 101 102 103", "102 103"})
		equal(t, "position", r.savedPosition(t), "103")
	})
}

func TestFirstFailure(t *testing.T) {
	t.Parallel()
	entries := []*entry{{sequence: "100"}, {sequence: "101"}, {sequence: "102"}}
	for _, tc := range []struct {
		answer string
		first  int
		failed bool
	}{
		{``, 0, false}, {`null`, 0, false}, {`{}`, 0, false}, {`{"batchItemFailures":null}`, 0, false}, {` {"batchItemFailures":[]} `, 0, false},
		{`{"other":1}`, 0, false},
		{`{"batchItemFailures":[{"itemIdentifier":"101"}]}`, 1, true},
		{`{"batchItemFailures":[{"itemIdentifier":"102"},{"itemIdentifier":"101"}]}`, 1, true},
		{`{"batchItemFailures":[{"itemIdentifier":"100"}]}`, 0, true},
		{`{"batchItemFailures":[{"itemIdentifier":"101"},{"itemIdentifier":"7"}]}`, 0, true},
		{`{"batchItemFailures":[{"itemIdentifier":""}]}`, 0, true},
		{`{"batchItemFailures":[{"itemIdentifier":null}]}`, 0, true},
		{`{"batchItemFailures":[{"ItemIdentifier":"101"}]}`, 0, true},
		{`{"batchItemFailures":[{}]}`, 0, true}, {`{"batchItemFailures":[null]}`, 0, true}, {`{"batchItemFailures":["101"]}`, 0, true},
		{`{"batchItemFailures":{"itemIdentifier":"101"}}`, 0, true}, {`{"batchItemFailures":[{"itemIdentifier":101}]}`, 0, true},
		{`"done"`, 0, true}, {`[]`, 0, true}, {`{`, 0, true},
	} {
		first, reason := firstFailure([]byte(tc.answer), entries)
		if first != tc.first || (reason != "") != tc.failed {
			t.Errorf("%s: %d %q, want %d %v", tc.answer, first, reason, tc.first, tc.failed)
		}
	}
}
