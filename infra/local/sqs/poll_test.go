package sqs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/platformtest"
)

// waiting waits until n receives wait for messages of a queue.
func waiting(t testing.TB, s *Store, name string, n int) {
	t.Helper()
	platformtest.Eventually(t, fmt.Sprint(n, " receives wait"), func() bool {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		return len(s.queues[name].waiters) == n
	})
}

// long sets the time that a receive waits.
func long(seconds int32) func(*sdk.ReceiveMessageInput) {
	return func(in *sdk.ReceiveMessageInput) { in.WaitTimeSeconds = seconds }
}

// A long poll ends immediately when a message becomes visible.
func TestLongPollWakes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before func(t *testing.T, client *sdk.Client, url string) *string
		then   func(t *testing.T, client *sdk.Client, url string, handle *string)
	}{
		"sent": {nil, func(t *testing.T, client *sdk.Client, url string, _ *string) {
			t.Helper()
			sendText(t, client, url, "m")
		}},
		"released": {
			func(t *testing.T, client *sdk.Client, url string) *string {
				t.Helper()
				sendText(t, client, url, "m")
				return receive(t, client, url, nil)[0].ReceiptHandle
			},
			func(t *testing.T, client *sdk.Client, url string, handle *string) {
				t.Helper()
				hide(t, client, url, handle, 0)
			},
		},
		"timed out": {
			func(t *testing.T, client *sdk.Client, url string) *string {
				t.Helper()
				sendText(t, client, url, "m")
				receive(t, client, url, func(in *sdk.ReceiveMessageInput) { in.VisibilityTimeout = 1 })
				return nil
			}, nil,
		},
		"hidden for less": {
			func(t *testing.T, client *sdk.Client, url string) *string {
				t.Helper()
				sendText(t, client, url, "m")
				return receive(t, client, url, nil)[0].ReceiptHandle
			},
			func(t *testing.T, client *sdk.Client, url string, handle *string) {
				t.Helper()
				hide(t, client, url, handle, 1)
			},
		},
		"delayed": {nil, func(t *testing.T, client *sdk.Client, url string, _ *string) {
			t.Helper()
			body := "m"
			if _, err := client.SendMessage(t.Context(), &sdk.SendMessageInput{QueueUrl: &url, MessageBody: &body, DelaySeconds: 1}); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openTest(t, func(o *Options) { o.Now = time.Now })
			client := clientOf(t, s)
			url := create(t, client, "q", nil)
			var handle *string
			if test.before != nil {
				handle = test.before(t, client, url)
			}
			got := make(chan string)
			begun := time.Now()
			go func() { got <- bodies(receive(t, client, url, long(20))) }()
			waiting(t, s, "q", 1)
			if test.then != nil {
				test.then(t, client, url, handle)
			}
			if body := <-got; body != "m" || time.Since(begun) > 15*time.Second {
				t.Errorf("got %q after %v", body, time.Since(begun))
			}
		})
	}
}

// A long poll without messages ends after its own wait time or, if it has none, after the wait time of the queue.
func TestLongPollEnds(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "q", map[string]string{"ReceiveMessageWaitTimeSeconds": "1"})
	begun := time.Now()
	if got := receive(t, client, url, nil); len(got) != 0 || time.Since(begun) < time.Second || time.Since(begun) > 15*time.Second {
		t.Errorf("got %d messages after %v", len(got), time.Since(begun))
	}
}

// Each waiting receive gets a message, in the order in which they began to wait. A canceled receive gets none.
func TestManyLongPolls(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "q", nil)
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := client.ReceiveMessage(ctx, &sdk.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: 20})
		left <- err
	}()
	waiting(t, s, "q", 1)
	got := make(chan string)
	for range 3 {
		go func() {
			got <- bodies(receive(t, client, url, func(in *sdk.ReceiveMessageInput) { in.WaitTimeSeconds = 20; in.MaxNumberOfMessages = 1 }))
		}()
	}
	waiting(t, s, "q", 4)
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	waiting(t, s, "q", 3)
	sendText(t, client, url, "a", "b", "c")
	found := map[string]bool{}
	for range 3 {
		found[<-got] = true
	}
	if len(found) != 3 || found[""] {
		t.Errorf("got %v", found)
	}
}

// Drain ends long polls.
func TestDrain(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "q", nil)
	got := make(chan string)
	begun := time.Now()
	go func() { got <- bodies(receive(t, client, url, long(20))) }()
	waiting(t, s, "q", 1)
	s.Drain()
	if body := <-got; body != "" || time.Since(begun) > 15*time.Second {
		t.Errorf("got %q after %v", body, time.Since(begun))
	}
	if got := receive(t, client, url, long(20)); len(got) != 0 || time.Since(begun) > 15*time.Second {
		t.Errorf("then got %d messages after %v", len(got), time.Since(begun))
	}
}

// A receive that was woken and is canceled wakes the next one.
func TestWakePassesOn(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	must(t, s, "CreateQueue", `{"QueueName":"q"}`)
	q := s.queues["q"]
	s.mutex.Lock()
	first, second := q.wait(s, time.Second), q.wait(s, time.Second)
	s.mutex.Unlock()
	must(t, s, "SendMessage", `{URL(q),"MessageBody":"m"}`)
	if len(first.woken) != 1 || len(second.woken) != 0 {
		t.Fatalf("woken: %d and %d", len(first.woken), len(second.woken))
	}
	s.leave(first)
	if len(second.woken) != 1 {
		t.Error("the second was not woken")
	}
	s.leave(second)
	if len(q.waiters) != 0 {
		t.Errorf("%d wait", len(q.waiters))
	}
}
