package sqs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/datafolder/disktest"
)

func openIn(t *testing.T, dir string, files vfs.FS, clock *testClock) *Store {
	t.Helper()
	s, err := Open(Options{Folder: disktest.Open(t, dir, files), Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shut closes a store and its folder.
func shut(t *testing.T, s *Store) {
	t.Helper()
	if err := errors.Join(s.Close(), s.folder.Close()); err != nil {
		t.Fatal(err)
	}
}

// A restart keeps queues, counts, deadlines, receipt handles, and the order of groups.
func TestReopen(t *testing.T) {
	t.Parallel()
	clock := newTestClock()
	dir := filepath.Join(t.TempDir(), "data")
	s := openIn(t, dir, nil, clock)
	client := clientOf(t, s)
	create(t, client, "dead", nil)
	url := create(t, client, "q", map[string]string{"RedrivePolicy": redriveTo("dead", 2)})
	path := strings.TrimPrefix(url, url[:strings.Index(url, "/0000")])
	sendTo(t, client, url, "noisy", "n0", "n1", "n2")
	sendTo(t, client, url, "quiet", "q0")
	must(t, s, "SendMessage", `{URL(q),"MessageBody":"late","DelaySeconds":60}`)
	first := receive(t, client, url, one)[0]
	before := queueAttributes(t, client, url)
	shut(t, s)
	if got := call(t, s, "GetQueueUrl", "{}"); got.status != 503 {
		t.Errorf("a closed store returns %s", got.raw)
	}

	clock.advance(10 * time.Second)
	s = openTest(t, func(o *Options) { o.Folder, o.Now = disktest.Open(t, dir, nil), clock.Now })
	endpoint := serve(t, s)
	client, url = sdkClient(endpoint), endpoint+path
	if diff := cmp.Diff(before, queueAttributes(t, client, url)); diff != "" {
		t.Errorf("attributes (-before +after):\n%s", diff)
	}
	if got := bodies(receive(t, client, url, nil)); got != "q0 n1 n2" {
		t.Errorf("got %s", got)
	}
	hide(t, client, url, first.ReceiptHandle, 0)
	again := receive(t, client, url, one)[0]
	if again.Attributes["ApproximateReceiveCount"] != "2" || *again.MessageId != *first.MessageId || *again.Body != "n0" {
		t.Errorf("got %+v", again)
	}
	deleteOne(t, client, url, first.ReceiptHandle)
	deleteOne(t, client, url, again.ReceiptHandle)
	if got := counts(t, client, url); got != "0 3 1" {
		t.Errorf("counts %s", got)
	}
	clock.advance(50 * time.Second)
	if got := bodies(receive(t, client, url, nil)); !strings.Contains(got, "late") {
		t.Errorf("got %s", got)
	}
	create(t, client, "another", nil)
	if len(s.byID) != 3 {
		t.Errorf("%d numbers for 3 queues", len(s.byID))
	}
}

// The number of a message, which is in its receipt handles, is never used again.
func TestNumbersAreNew(t *testing.T) {
	t.Parallel()
	files := vfs.NewCrashableMem()
	seen := map[uint64]bool{}
	for range 3 {
		s := openTest(t, func(o *Options) { o.Folder = disktest.Open(t, "/data", files) })
		must(t, s, "CreateQueue", `{"QueueName":"q"}`)
		for range 3 {
			must(t, s, "SendMessage", `{URL(q),"MessageBody":"x"}`)
		}
		for number := range s.queues["q"].messages {
			if seen[number] {
				t.Errorf("number %d again", number)
			}
			seen[number] = true
		}
		got := must(t, s, "ReceiveMessage", `{URL(q),"MaxNumberOfMessages":10}`)
		for _, m := range got.body["Messages"].([]any) {
			must(t, s, "DeleteMessage", `{URL(q),"ReceiptHandle":"`+m.(map[string]any)["ReceiptHandle"].(string)+`"}`)
		}
		files = files.CrashClone(vfs.CrashCloneCfg{})
	}
}

// ledger is the state of messages that clients know.
type ledger struct {
	mutex    sync.Mutex
	sent     map[string]bool // acknowledged
	asked    map[string]bool // deletion requested
	deleted  map[string]bool // acknowledged
	received map[string]int  // number of acknowledged receives
	done     int
}

func newLedger() *ledger {
	return &ledger{sent: map[string]bool{}, asked: map[string]bool{}, deleted: map[string]bool{}, received: map[string]int{}}
}

func (l *ledger) note(what func()) int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	what()
	l.done++
	return l.done
}

// work sends, receives and deletes until a request fails.
func (l *ledger) work(ctx context.Context, client *sdk.Client, url string, worker int, after func(done int)) {
	for n := 0; ; n++ {
		entries := make([]types.SendMessageBatchRequestEntry, 3)
		for i := range entries {
			entries[i] = types.SendMessageBatchRequestEntry{Id: aws.String(fmt.Sprint(i)), MessageBody: aws.String(fmt.Sprintf("%d-%d-%d", worker, n, i))}
		}
		if _, err := client.SendMessageBatch(ctx, &sdk.SendMessageBatchInput{QueueUrl: &url, Entries: entries}); err != nil {
			return
		}
		after(l.note(func() {
			for _, e := range entries {
				l.sent[*e.MessageBody] = true
			}
		}))
		got, err := client.ReceiveMessage(ctx, &sdk.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 4})
		if err != nil {
			return
		}
		after(l.note(func() {
			for _, m := range got.Messages {
				l.received[*m.Body]++
			}
		}))
		for i, m := range got.Messages {
			if i%2 == 1 {
				continue // stays in flight
			}
			l.note(func() { l.asked[*m.Body] = true })
			if _, err := client.DeleteMessage(ctx, &sdk.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle}); err != nil {
				return
			}
			after(l.note(func() { l.deleted[*m.Body] = true }))
		}
	}
}

// check compares a store after a crash with the requests that were acknowledged before. Requests after the snapshot may
// have been executed or not.
func (l *ledger) check(t *testing.T, s *Store, later *ledger) {
	t.Helper()
	found := map[string]*message{}
	for number, m := range s.queues["q"].messages {
		value, err := datafolder.Read(s.folder.DB, bodyKey(number))
		if err != nil || value == nil {
			t.Fatalf("a message without a body: %v", err)
		}
		body := string(value)
		if found[body] != nil {
			t.Errorf("%s exists twice", body)
		}
		found[body] = m
	}
	if len(l.sent) == 0 || len(l.deleted) == 0 {
		t.Errorf("only %d messages and %d deletions", len(l.sent), len(l.deleted))
	}
	for body := range l.sent {
		m := found[body]
		switch {
		case m == nil && !later.asked[body]:
			t.Errorf("%s was acknowledged and is lost", body)
		case m != nil && l.deleted[body]:
			t.Errorf("%s was deleted and is back", body)
		case m != nil && int(m.receives) < l.received[body]:
			t.Errorf("%s was received %d times, but its count is %d", body, l.received[body], m.receives)
		case m != nil && l.received[body] > 0 && !m.isInFlight():
			t.Errorf("%s was received and is not in flight", body)
		}
	}
	if keys := s.keysOnDisk(t); keys != fmt.Sprintf("1 queues, %d bodies, %d entries", len(found), len(found)) {
		t.Errorf("on disk: %s, in the index: %d", keys, len(found))
	}
}

// After stops and power cuts in any order, with and without changes between them, a store has its last state.
func TestManyRestarts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			files, clock := vfs.NewCrashableMem(), newTestClock()
			var want []string
			for run := range 25 {
				s := openIn(t, "/data", files, clock)
				if run == 0 {
					must(t, s, "CreateQueue", `{"QueueName":"q"}`)
				}
				if got := states(s.queues["q"]); !cmp.Equal(got, want) {
					t.Fatalf("run %d: %s", run, cmp.Diff(want, got))
				}
				for range []int{0, 0, 1, 2, 40}[random.IntN(5)] {
					step(t, s, random)
				}
				want = states(s.queues["q"])
				after := files
				if cut := random.IntN(2) == 0; cut {
					after = files.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: random.IntN(101), RNG: random})
				}
				shut(t, s)
				files = after
				clock.advance(time.Duration(random.IntN(3)) * time.Second)
			}
		})
	}
}

// step does a random operation.
func step(t *testing.T, s *Store, random *rand.Rand) {
	t.Helper()
	switch random.IntN(4) {
	case 0, 1:
		must(t, s, "SendMessage", fmt.Sprintf(`{URL(q),"MessageBody":"%0500d","DelaySeconds":%d,"MessageGroupId":"g%d"}`, random.IntN(9), random.IntN(2), random.IntN(3)))
	default:
		got := must(t, s, "ReceiveMessage", fmt.Sprintf(`{URL(q),"MaxNumberOfMessages":3,"VisibilityTimeout":%d}`, random.IntN(20)))
		messages, _ := got.body["Messages"].([]any)
		for _, m := range messages {
			switch handle := m.(map[string]any)["ReceiptHandle"].(string); random.IntN(3) {
			case 0:
				must(t, s, "DeleteMessage", `{URL(q),"ReceiptHandle":"`+handle+`"}`)
			case 1: // fails if the message is visible
				call(t, s, "ChangeMessageVisibility", fmt.Sprintf(`{URL(q),"ReceiptHandle":"%s","VisibilityTimeout":%d}`, handle, random.IntN(90)))
			}
		}
	}
}

// states returns the state of every message of a queue.
func states(q *queue) []string {
	var found []string
	for _, m := range q.messages {
		found = append(found, fmt.Sprintf("%x %d sent %d first %d last %d visible %d received %d handle %d group %q",
			m.id, m.number, m.sent, m.first, m.last, m.visible, m.receives, m.generation, m.group.name))
	}
	sort.Strings(found)
	return found
}

// Damaged records are an error at the start, in one line that names the folder.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		key   []byte
		value string
	}{
		"queue":                   {queueKey(9), "{"},
		"message":                 {messageKey(0, 9), "too short"},
		"message without a queue": {messageKey(9, 9), string((&message{}).encode(""))},
		"key of a message":        {messageKey(0, 9)[:9], ""},
		"numbers":                 {[]byte{datafolder.SpaceEpoch}, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openIn(t, filepath.Join(t.TempDir(), "data"), nil, newTestClock())
			defer shut(t, s)
			must(t, s, "CreateQueue", `{"QueueName":"q"}`)
			if err := s.folder.DB.Set(test.key, []byte(test.value), nil); err != nil {
				t.Fatal(err)
			}
			_, err := Open(s.options)
			if err == nil || !strings.HasPrefix(err.Error(), "the data in "+s.folder.Dir+" is damaged: ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// On a full disk, a write fails the folder, and no acknowledged message is lost.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	send := func(s *Store) int { return call(t, s, "SendMessage", `{URL(q),"MessageBody":"during"}`).status }
	disktest.TestFull(t, func(folder *datafolder.Folder) (*Store, error) {
		return Open(Options{Folder: folder, Now: newTestClock().Now})
	}, func(s *Store) {
		must(t, s, "CreateQueue", `{"QueueName":"q"}`)
		must(t, s, "SendMessage", `{URL(q),"MessageBody":"before"}`)
	}, send, func(s *Store) {
		if got := must(t, s, "ReceiveMessage", `{URL(q),"MaxNumberOfMessages":10}`).raw; strings.Count(got, "MessageId") != 1 || !strings.Contains(got, "before") {
			t.Errorf("got %s", got)
		}
	})
}
