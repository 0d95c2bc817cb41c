package delivery

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/shared/clock"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
)

// publish stores events and runs the fan-out. The test fails if the fan-out fails.
func (f *fixture) publish(events ...event.Record) {
	f.t.Helper()
	f.putEvents(events...)
	for _, err := range f.fanout.Handle(f.t.Context(), streamRecords(f.t, events...)) {
		if err != nil {
			f.t.Fatal(err)
		}
	}
}

// publishOne returns a fixture with one published event and the webhook that subscribes to it. url is the URL of the
// endpoint, or a path of the receiver. See fixture.subscribe.
func publishOne(t *testing.T, url string, change ...func(*Webhook)) (*fixture, Webhook) {
	t.Helper()
	f := newFixture(t)
	if strings.HasPrefix(url, "/") {
		url = f.receiver.URL(url)
	}
	w := f.subscribe(f.newWorkspace(), url, change...)
	f.publish(f.newEvent(w.WorkspaceID))
	return f, w
}

// receiveMessages receives up to ten visible messages of the fast lane.
func (f *fixture) receiveMessages() []lambdafn.QueueMessage { return f.receiveFrom(f.deliveries) }

// receiveFrom receives up to ten visible messages of a queue.
func (f *fixture) receiveFrom(url string) []lambdafn.QueueMessage {
	f.t.Helper()
	out, err := f.queues.ReceiveMessage(f.t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: 10,
		MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{sqstypes.MessageSystemAttributeNameAll},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	messages := make([]lambdafn.QueueMessage, len(out.Messages))
	for i, m := range out.Messages {
		receives, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
		if err != nil {
			f.t.Fatal(err)
		}
		if group := m.Attributes["MessageGroupId"]; !id.User.Valid(group) {
			f.t.Errorf("got the group %q of message %s, want an account", group, *m.Body)
		}
		messages[i] = lambdafn.QueueMessage{
			ID: *m.MessageId, ReceiptHandle: *m.ReceiptHandle, Body: *m.Body, Group: m.Attributes["MessageGroupId"],
			Receives: receives,
		}
	}
	return messages
}

// deleteMessage deletes a message of the fast lane.
func (f *fixture) deleteMessage(m lambdafn.QueueMessage) { f.deleteFrom(f.deliveries, m) }

func (f *fixture) deleteFrom(url string, m lambdafn.QueueMessage) {
	f.t.Helper()
	input := &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: &m.ReceiptHandle}
	if _, err := f.queues.DeleteMessage(f.t.Context(), input); err != nil {
		f.t.Fatal(err)
	}
}

// sendMessage sends a message that names a delivery of the fast lane.
func (f *fixture) sendMessage(d Delivery) {
	f.t.Helper()
	if err := f.fast.Fast.Send(f.t.Context(), d.message().queueMessage(0)); err != nil {
		f.t.Fatal(err)
	}
}

// failedMessages returns the bodies of the messages in the failure queue.
func (f *fixture) failedMessages() (bodies []string) {
	f.t.Helper()
	input := &sqs.ReceiveMessageInput{QueueUrl: &f.failures, MaxNumberOfMessages: 10}
	out, err := f.queues.ReceiveMessage(f.t.Context(), input)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, m := range out.Messages {
		bodies = append(bodies, *m.Body)
	}
	return bodies
}

// handlers returns the functions that handle the messages of the queues, by the URL of the queue.
func (f *fixture) handlers() map[string]func(context.Context, []lambdafn.QueueMessage) []error {
	return map[string]func(context.Context, []lambdafn.QueueMessage) []error{
		f.deliveries: f.fast.Handle, f.slowDeliveries: f.slow.Handle, f.creations: f.slow.Handle,
	}
}

// handleMessages handles all visible messages of all queues. It returns the number of messages, and the errors of the
// messages that were not completed.
func (f *fixture) handleMessages() (n int, errs []error) {
	f.t.Helper()
	for {
		handled := 0
		for url, handle := range f.handlers() {
			messages := f.receiveFrom(url)
			handled += len(messages)
			if len(messages) == 0 {
				continue
			}
			for i, err := range handle(f.t.Context(), messages) {
				if err == nil {
					f.deleteFrom(url, messages[i])
					continue
				}
				errs = append(errs, err)
			}
		}
		if n += handled; handled == 0 {
			return n, errs
		}
	}
}

func (f *fixture) runRetryJob() {
	f.t.Helper()
	f.lastRun = f.now()
	if err := f.job.Run(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// runUntilFinished advances the clock, handles messages and runs the retry job until no delivery is pending.
func (f *fixture) runUntilFinished() {
	f.t.Helper()
	f.runSteps(10_000)
}

// runSteps is runUntilFinished with another maximum number of steps.
func (f *fixture) runSteps(maxSteps int) {
	f.t.Helper()
	for range maxSteps {
		f.handleMessages()
		next := f.nextStep()
		if next.IsZero() {
			return
		}
		if next.After(f.now()) {
			f.advance(next.Sub(f.now()) + time.Millisecond)
		}
		if f.now().Sub(f.lastRun) >= time.Minute {
			f.runRetryJob()
		}
	}
	f.t.Fatalf("deliveries are still pending after %d steps", maxSteps)
}

// nextStep returns the time at which runUntilFinished continues: when a waiting message becomes visible, or when a run
// of the retry job finds the next due delivery or webhook. It is zero if no delivery is pending.
func (f *fixture) nextStep() time.Time {
	f.t.Helper()
	var next time.Time
	useIfEarlier := func(at time.Time) {
		if at = later(at, f.now().Add(time.Millisecond)); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	visible := func(at *clock.Timestamp) { // a message waits for whole seconds, at most for a minute
		if at != nil && at.Time().After(f.now()) && at.Time().Sub(f.now()) <= maxMessageDelay {
			useIfEarlier(at.Time().Add(time.Second))
		}
	}
	due := func(at time.Time) { useIfEarlier(later(at.Add(-lookAhead), f.lastRun.Add(time.Minute))) }
	pending := false
	for _, d := range f.allDeliveries() {
		if d.Status != Pending {
			continue
		}
		pending = true
		visible(d.NextAttemptAt)
		visible(d.LeaseUntil)
		if !d.waitsInSlowLane() {
			due(d.DueAt.Time())
		}
	}
	for _, w := range f.allWebhooks() {
		visible(w.NotBefore)
		if pending && w.DueAt != nil {
			due(w.DueAt.Time())
		}
	}
	if !pending {
		return time.Time{}
	}
	return next
}

// later returns the later one of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// createDeliveries handles the messages that create deliveries.
func (f *fixture) createDeliveries() {
	f.t.Helper()
	messages := f.receiveFrom(f.creations)
	if errs := errors.Join(f.slow.Handle(f.t.Context(), messages)...); errs != nil {
		f.t.Fatal(errs)
	}
	for _, m := range messages {
		f.deleteFrom(f.creations, m)
	}
}

// newEvents returns events of a workspace.
func (f *fixture) newEvents(workspaceID string, n int) []event.Record {
	events := make([]event.Record, n)
	for i := range events {
		events[i] = f.newEvent(workspaceID)
		f.advance(time.Millisecond)
	}
	return events
}

// purgeQueue deletes all visible messages and returns their number.
func (f *fixture) purgeQueue() (n int) {
	f.t.Helper()
	for {
		messages := f.receiveMessages()
		if len(messages) == 0 {
			return n
		}
		for _, m := range messages {
			f.deleteMessage(m)
			n++
		}
	}
}
