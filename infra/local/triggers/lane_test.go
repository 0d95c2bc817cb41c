package triggers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
)

// A shard has as many batches in flight as its factor allows, with different partition keys. Its position waits for the
// slowest batch.
func TestLanesRunTogether(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, with(func(s *resources.EventSourceMapping) { s.ParallelizationFactor, s.BatchSize = 4, 2 }))
		var mu sync.Mutex
		running, most := 0, 0
		first := make(chan struct{})
		r.function.handle = func(_ context.Context, batch []string) (string, error) {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			if slices.Contains(batch, "100") {
				<-first
			}
			time.Sleep(time.Second)
			mu.Lock()
			running--
			mu.Unlock()
			return "", nil
		}
		var keys []string
		for i := range 40 {
			keys = append(keys, fmt.Sprint("key-", i%10))
		}
		r.fake.put(keys...)
		r.Start()
		after(time.Minute)
		equal(t, "most at once", most, 4)
		if got := r.savedPosition(t); got != "" {
			t.Errorf("position %s while the first record is in flight", got)
		}
		close(first)
		after(time.Minute)
		equal(t, "position", r.savedPosition(t), "139")
		received, _ := r.function.received()
		perKey := map[string][]string{}
		for _, e := range received {
			for _, record := range e.Records {
				key := record.Change.Keys["id"].String()
				perKey[key] = append(perKey[key], record.Change.SequenceNumber)
			}
		}
		for key, sequences := range perKey {
			if len(sequences) != 4 || !slices.IsSorted(sequences) {
				t.Errorf("%s: %v", key, sequences)
			}
		}
	})
}

// A failing record blocks its lane. The other lanes continue until the limit of memory.
func TestPoisonBlocksItsLaneOnly(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, with(func(s *resources.EventSourceMapping) { s.ParallelizationFactor, s.BatchSize = 2, 1000 }))
		r.function.handle = failOn("100")
		here, there := "", ""
		for i := 0; here == "" || there == ""; i++ {
			key := fmt.Sprint(i)
			record := types.Record{Dynamodb: &types.StreamRecord{Keys: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: key}}}}
			if laneOf(record, "id", 2) == 0 {
				here = key
			} else {
				there = key
			}
		}
		r.fake.put(here)
		for range 3 {
			r.fake.put(slices.Repeat([]string{there}, 5000)...)
		}
		r.Start()
		after(time.Minute)
		others := 0
		for _, batch := range r.function.seen() {
			if !strings.HasPrefix(batch, "100") {
				others += len(strings.Fields(batch))
			}
		}
		if others < aheadRecords-1 || others > aheadRecords+pageSize {
			t.Errorf("%d records of the other lane are done, want about %d", others, aheadRecords)
		}
		r.function.mu.Lock()
		r.function.handle = nil
		r.function.mu.Unlock()
		after(time.Minute)
		equal(t, "position", r.savedPosition(t), fmt.Sprint(100+15000))
	})
}

// Skipped records take no room in the ledger, so that a batch can be completed after any number of them.
func TestSkippedRecordsTakeNoRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, with(func(s *resources.EventSourceMapping) {
			s.BatchingWindow = 5 * time.Minute
			s.Filters = []string{`{"dynamodb": {"NewImage": {"id": {"S": ["wanted"]}}}}`}
		}))
		r.fake.put("wanted")
		r.fake.put(slices.Repeat([]string{"unwanted"}, 30_000)...)
		r.fake.put(slices.Repeat([]string{"wanted"}, 9)...)
		r.Start()
		after(time.Minute)
		equal(t, "batches", r.function.seen(), []string{"100 30101 30102 30103 30104 30105 30106 30107 30108 30109"})
		equal(t, "position", r.savedPosition(t), "30109")
	})
}

// While a function hangs, the payloads of two invocations for each lane are read ahead.
func TestReadAheadIsBoundedInBytes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.fake.page = 1
		r.fake.put(slices.Repeat([]string{"a"}, 100)...)
		for i := range r.fake.streams[fakeARN].records {
			r.fake.streams[fakeARN].records[i].Dynamodb.NewImage["big"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", 390<<10)}
		}
		hang := make(chan struct{})
		r.function.handle = func(context.Context, []string) (string, error) {
			<-hang
			return "", nil
		}
		r.Start()
		after(time.Minute)
		if n, want := r.fake.count("GetRecords"), aheadBytes/(390<<10)+1; n != want {
			t.Errorf("%d records were read, want %d", n, want)
		}
		close(hang)
		after(time.Minute)
		equal(t, "position", r.savedPosition(t), "199")
	})
}

func TestUnavailableFunction(t *testing.T) {
	for _, reason := range []error{runtime.ErrThrottled, runtime.ErrFunctionNotFound} {
		t.Run(reason.Error(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t)
				r.function.handle = func(context.Context, []string) (string, error) {
					if len(r.function.seen()) < 20 {
						return "", fmt.Errorf("%w: Fn", reason)
					}
					return "", nil
				}
				r.fake.put("a")
				r.Start()
				after(time.Minute)
				equal(t, "attempts", len(r.function.seen()), 20)
				equal(t, "discarded", r.discardedMessages(t), []string(nil))
				equal(t, "log", r.logs.count("WARN the function can't be invoked"), 1)
				equal(t, "position", r.savedPosition(t), "100")
			})
		})
	}
}

func TestRecordAge(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, with(func(s *resources.EventSourceMapping) { s.MaximumRecordAge = time.Minute }))
		r.fake.put("too old before it is read")
		time.Sleep(2 * time.Minute)
		r.fake.put("gets too old")
		r.function.handle = failOn("101")
		r.Start()
		after(30 * time.Second)
		r.fake.put("waits")
		after(time.Minute)
		equal(t, "last batch", r.function.seen()[len(r.function.seen())-1], "102")
		discarded := r.discardedMessages(t)
		if len(discarded) != 2 || discarded[0] != "RecordAgeExceeded 100-100 0" || !strings.HasPrefix(discarded[1], "RecordAgeExceeded 101-101 ") {
			t.Errorf("discarded %q", discarded)
		}
		if last := locked(&r.failures.mu, &r.failures.sent)[0]; strings.Contains(last, "responseContext") {
			t.Errorf("a record that no function has received has a responseContext: %s", last)
		}
	})
}

// TestNothingIsLost kills and restarts mappings at random moments, with functions that fail at random: every record is
// delivered in the order of its key, and records before a position are not delivered again.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		factor := rapid.IntRange(1, 4).Draw(rt, "factor")
		size := rapid.IntRange(1, 5).Draw(rt, "batch size")
		window := time.Duration(rapid.IntRange(0, 2).Draw(rt, "window")) * 100 * time.Millisecond
		keys := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), 1, 30).Draw(rt, "keys")
		failures := rapid.SliceOfN(rapid.IntRange(0, 3), 8, 8).Draw(rt, "failures")
		crashes := rapid.SliceOfN(rapid.IntRange(0, 400), 1, 4).Draw(rt, "crashes") // in milliseconds
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, with(func(s *resources.EventSourceMapping) {
				s.ParallelizationFactor, s.BatchSize, s.BatchingWindow = factor, size, window
			}))
			var mu sync.Mutex
			calls, succeeded := 0, map[string]int{}
			last := map[string]string{} // of each key, since the last restart
			r.function.handle = func(_ context.Context, batch []string) (string, error) {
				time.Sleep(20 * time.Millisecond)
				mu.Lock()
				defer mu.Unlock()
				calls++
				good := batch
				answer, err := "{}", error(nil)
				if calls <= len(failures) {
					switch failures[calls-1] {
					case 1:
						good, err = nil, errFunction
					case 2:
						good = batch[:len(batch)/2]
						answer = fmt.Sprintf(`{"batchItemFailures":[{"itemIdentifier":"%s"}]}`, batch[len(batch)/2])
					case 3:
						good, err = nil, runtime.ErrThrottled
					}
				}
				for _, sequence := range good {
					key := keys[atoi(sequence)-100]
					if last[key] >= sequence {
						t.Errorf("key %s: %s came after %s", key, sequence, last[key])
					}
					last[key] = sequence
					succeeded[sequence]++
				}
				return answer, err
			}
			r.fake.put(keys[:len(keys)/2]...)
			for i, ms := range crashes {
				r.Start()
				if i == 0 {
					r.fake.put(keys[len(keys)/2:]...)
				}
				after(time.Duration(ms) * time.Millisecond)
				saved := r.snapshot() // the positions after a crash
				r.close(t)
				mu.Lock()
				clear(last)
				mu.Unlock()
				r.saved = saved
				r.open(t)
			}
			r.Start()
			after(time.Minute)
			if got := r.savedPosition(t); got != fmt.Sprint(99+len(keys)) {
				t.Errorf("position %s of %d records", got, len(keys))
			}
			for i := range keys {
				if succeeded[fmt.Sprint(100+i)] == 0 {
					t.Errorf("record %d was lost", 100+i)
				}
			}
			equal(t, "discarded", r.discardedMessages(t), []string(nil))
		})
		if t.Failed() {
			rt.FailNow()
		}
	})
}

func atoi(s string) (n int) {
	_, _ = fmt.Sscan(s, &n)
	return n
}

func TestDecide(t *testing.T) {
	t.Parallel()
	a := &entry{sequence: "a"}
	all := batch{entries: []*entry{a, {sequence: "b"}, {sequence: "c"}, {sequence: "d"}}, failures: 1}
	one := batch{entries: []*entry{a}, failures: 1}
	type brief struct {
		Done     int
		Next     []string
		Failures int
		Pause    bool
	}
	for _, tc := range []struct {
		name string
		in   batch
		r    result
		want brief
	}{
		{"success", all, result{}, brief{Done: 4}},
		{"unavailable", all, result{outcome: unavailable}, brief{Next: []string{"abcd"}, Failures: 2, Pause: true}},
		{"split", all, result{outcome: failed}, brief{Next: []string{"ab", "cd"}}},
		{"the second record failed", all, result{outcome: failed, first: 1}, brief{Done: 1, Next: []string{"bcd"}, Failures: 2, Pause: true}},
		{"nothing to split", one, result{outcome: failed}, brief{Next: []string{"a"}, Failures: 2, Pause: true}},
	} {
		v := decide(tc.in, tc.r)
		got := brief{Done: v.done, Pause: v.pause}
		for _, next := range v.next {
			text := ""
			for _, e := range next.entries {
				text += e.sequence
			}
			got.Next, got.Failures = append(got.Next, text), next.failures
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}
