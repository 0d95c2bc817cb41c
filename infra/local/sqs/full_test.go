package sqs

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"devplatform/infra/local/datafolder/disktest"
)

// TestFullDisk fills the disk. Operations that change a queue, such as receives, fail and can be retried. The others
// succeed. No message is lost when there is room again, or after a restart.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := disktest.New(1<<30, "")
	var log strings.Builder
	options := Options{
		Dir: "/data", Now: newTestClock().Now, fs: disk, Logger: slog.New(slog.NewTextHandler(&log, nil)), Failed: func(err error) { t.Error(err) },
	}
	s, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	must(t, s, "CreateQueue", `{"QueueName":"q"}`)
	must(t, s, "SendMessage", `{URL(q),"MessageBody":"before"}`)
	disk.Fill()
	var sent atomic.Int64
	sent.Store(1)
	var filled atomic.Bool
	var senders sync.WaitGroup // their requests in flight wait until there is room
	for range 4 {
		senders.Go(func() {
			for !filled.Load() {
				if call(t, s, "SendMessage", `{URL(q),"MessageBody":"another"}`).status == 200 {
					sent.Add(1)
				}
			}
		})
	}
	disktest.Await(t, "a full disk", func() bool { return s.folder.Room() != nil })
	filled.Store(true)
	for operation, body := range map[string]string{
		"SendMessage":      `{URL(q),"MessageBody":"during"}`,
		"SendMessageBatch": `{URL(q),"Entries":[{"Id":"1","MessageBody":"during"}]}`,
		"ReceiveMessage":   `{URL(q)}`,
		"DeleteQueue":      `{URL(q)}`,
		"CreateQueue":      `{"QueueName":"another"}`,
	} {
		if got := call(t, s, operation, body); got.status != 500 || !strings.Contains(got.raw, "InternalServerError") {
			t.Errorf("%s: %d %s", operation, got.status, got.raw)
		}
	}
	must(t, s, "GetQueueAttributes", `{URL(q),"AttributeNames":["All"]}`)
	must(t, s, "ListQueues", `{}`)
	disk.AddRoom(1 << 30)
	disktest.Await(t, "room", func() bool { return s.folder.Room() == nil })
	senders.Wait()
	must(t, s, "SendMessage", `{URL(q),"MessageBody":"after"}`)
	sent.Add(1)
	for range 2 {
		want := fmt.Sprintf(`"ApproximateNumberOfMessages":"%d"`, sent.Load())
		if got := must(t, s, "GetQueueAttributes", `{URL(q),"AttributeNames":["ApproximateNumberOfMessages"]}`); !strings.Contains(got.raw, want) {
			t.Errorf("%s, want %s", got.raw, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err = Open(options); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(log.String(), "\n"); got != 2 || !strings.Contains(log.String(), "the disk is full") {
		t.Errorf("got the log:\n%s", log.String())
	}
}
