package sqs

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func sendTo(t testing.TB, client *sdk.Client, url, group string, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		if _, err := client.SendMessage(t.Context(), &sdk.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageGroupId: &group}); err != nil {
			t.Fatal(err)
		}
	}
}

func one(in *sdk.ReceiveMessageInput) { in.MaxNumberOfMessages = 1 }

// Messages of a group with many messages in flight wait for messages of other groups.
func TestNoisyGroup(t *testing.T) {
	t.Parallel()
	s, clock := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "q", nil)
	for i := range 30 {
		sendTo(t, client, url, "noisy", fmt.Sprintf("n%d", i))
	}
	if got := bodies(receive(t, client, url, nil)); got != "n0 n1 n2 n3 n4 n5 n6 n7 n8 n9" {
		t.Errorf("without other groups: %s", got)
	}
	sendTo(t, client, url, "quiet", "q0", "q1")
	sendText(t, client, url, "u0")
	if got := bodies(receive(t, client, url, func(in *sdk.ReceiveMessageInput) { in.MaxNumberOfMessages = 4 })); got != "q0 u0 q1 n10" {
		t.Errorf("got %s", got)
	}
	// Only messages in flight delay a group.
	clock.advance(30 * time.Second)
	sendTo(t, client, url, "quiet", "q2")
	if got := bodies(receive(t, client, url, one)); got != "n11" {
		t.Errorf("when nothing is in flight, the oldest is next: %s", got)
	}
	if got := bodies(receive(t, client, url, one)); got == "n12" {
		t.Errorf("got %s", got)
	}
}

// Without groups, or with at most one message in flight, the order is first in, first out.
func TestOrderWithoutNoise(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "q", nil)
	var want []string
	for i := range 10 {
		body := fmt.Sprint(i)
		want = append(want, body)
		if i%2 == 0 {
			sendText(t, client, url, body)
			continue
		}
		sendTo(t, client, url, "g", body)
	}
	for _, body := range want {
		got := receive(t, client, url, one)
		if bodies(got) != body {
			t.Errorf("got %s, want %s", bodies(got), body)
		}
		deleteOne(t, client, url, got[0].ReceiptHandle)
	}
}

// The wait of other groups does not depend on the number of messages of one group.
func TestFairAtScale(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	client := clientOf(t, s)
	url := create(t, client, "q", nil)
	entries := make([]types.SendMessageBatchRequestEntry, 10)
	for batch := range 200 {
		for i := range entries {
			entries[i] = types.SendMessageBatchRequestEntry{Id: aws.String(fmt.Sprint(i)), MessageBody: aws.String("noise"), MessageGroupId: aws.String("noisy")}
		}
		if batch == 199 { // behind 1,990 others
			for i := range entries {
				entries[i].MessageBody, entries[i].MessageGroupId = aws.String("quiet"), aws.String(fmt.Sprint("tenant", i))
			}
		}
		if _, err := client.SendMessageBatch(t.Context(), &sdk.SendMessageBatchInput{QueueUrl: &url, Entries: entries}); err != nil {
			t.Fatal(err)
		}
	}
	got := receive(t, client, url, nil) // nothing is in flight, so the first message is of the noisy group
	if *got[0].Body != "noise" || *got[1].Body != "quiet" || *got[9].Body != "quiet" {
		t.Errorf("got %s", bodies(got))
	}
}
