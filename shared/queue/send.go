package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"golang.org/x/sync/errgroup"

	"devplatform/shared/awsclient"
)

// Message is a message to be.
type Message struct {
	// Body is not empty, and has no characters but those of XML 1.0.
	Body string
	// Group shares the queue fairly: a busy group is held back behind the others. At most 128 characters; "": none.
	Group string
	// Delay is how long it can't be received yet, rounded up to whole seconds, at most 15 min.
	Delay time.Duration
	// Attributes travel beside the body as text, at most 10, none of them empty.
	Attributes map[string]string
}

// Bounds of a SendMessageBatch (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html).
const (
	maxEntries   = 10
	maxBatch     = 1 << 20 // bytes, of all bodies and attributes
	sendParallel = 4       // such calls at once
)

// Send sends messages, not as one: in batches, some at a time, in no order. A message that SQS refuses for a reason of its own is
// sent again, a few times. Error: *SendError, which tells those that were not sent.
//
// Where an answer was lost, a message may have been sent though the error says otherwise, or be sent twice: consumers must know a
// message that they have seen.
func (q Queue) Send(ctx context.Context, messages ...Message) error {
	failed := map[int]error{}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(sendParallel)
	for entries := range batches(messages) {
		group.Go(func() error {
			q.sendBatch(ctx, entries, func(entry types.SendMessageBatchRequestEntry, err error) {
				mu.Lock()
				defer mu.Unlock()
				i, _ := strconv.Atoi(*entry.Id)
				failed[i] = err
			})
			return nil
		})
	}
	_ = group.Wait() // none fails
	if len(failed) == 0 {
		return nil
	}
	return &SendError{Failed: failed, sent: len(messages) - len(failed)}
}

// batches are the messages as entries of calls, each named by its index. A message that is too large for any is alone in its own.
func batches(messages []Message) func(yield func([]types.SendMessageBatchRequestEntry) bool) {
	return func(yield func([]types.SendMessageBatchRequestEntry) bool) {
		var batch []types.SendMessageBatchRequestEntry
		size := 0
		for i, m := range messages {
			n := m.size()
			if len(batch) == maxEntries || (len(batch) > 0 && size+n > maxBatch) {
				if !yield(batch) {
					return
				}
				batch, size = nil, 0
			}
			batch, size = append(batch, m.entry(i)), size+n
		}
		if len(batch) > 0 {
			yield(batch)
		}
	}
}

// attributeType is what the attributes' type is called, which counts, too.
const attributeType = "String"

// size is what the message counts towards SQS's limits, in bytes.
func (m Message) size() int {
	n := len(m.Body)
	for name, value := range m.Attributes {
		n += len(name) + len(attributeType) + len(value)
	}
	return n
}

func (m Message) entry(i int) types.SendMessageBatchRequestEntry {
	entry := types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), MessageBody: &m.Body, DelaySeconds: wholeSeconds(m.Delay)}
	if m.Group != "" {
		entry.MessageGroupId = &m.Group
	}
	for name, value := range m.Attributes {
		if entry.MessageAttributes == nil {
			entry.MessageAttributes = make(map[string]types.MessageAttributeValue, len(m.Attributes))
		}
		entry.MessageAttributes[name] = types.MessageAttributeValue{DataType: aws.String(attributeType), StringValue: &value}
	}
	return entry
}

// sendBatch sends one batch, and again what SQS could not take, each time after a longer wait. What it gives up goes to failed.
func (q Queue) sendBatch(
	ctx context.Context, pending []types.SendMessageBatchRequestEntry, failed func(types.SendMessageBatchRequestEntry, error),
) {
	for attempt := 0; ; attempt++ {
		out, err := q.client.sdk.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &q.url, Entries: pending})
		if err != nil { // the SDK has tried often enough
			err = classify("send", err)
			for _, entry := range pending {
				failed(entry, err)
			}
			return
		}
		again, reasons := sortOut(pending, out, failed)
		if len(again) == 0 {
			return
		}
		if attempt+1 == awsclient.MaxAttempts || !awsclient.Sleep(ctx, q.client.backoff(attempt)) {
			for i, entry := range again {
				failed(entry, reasons[i])
			}
			return
		}
		pending = again
	}
}

// sortOut hands what SQS refuses for good to failed, and answers with what may be sent another time and why it was not.
func sortOut(
	sent []types.SendMessageBatchRequestEntry, out *sqs.SendMessageBatchOutput, failed func(types.SendMessageBatchRequestEntry, error),
) (again []types.SendMessageBatchRequestEntry, reasons []error) {
	for _, entry := range sent {
		if slices.ContainsFunc(out.Successful, func(s types.SendMessageBatchResultEntry) bool { return aws.ToString(s.Id) == *entry.Id }) {
			continue
		}
		i := slices.IndexFunc(out.Failed, func(f types.BatchResultErrorEntry) bool { return aws.ToString(f.Id) == *entry.Id })
		if i < 0 {
			again, reasons = append(again, entry), append(reasons, fmt.Errorf("%w: send: the answer does not name the message", ErrUnavailable))
			continue
		}
		code := aws.ToString(out.Failed[i].Code)
		cause := errors.New(code + ": " + aws.ToString(out.Failed[i].Message))
		if _, throttled := retry.DefaultThrottleErrorCodes[code]; out.Failed[i].SenderFault && !throttled {
			failed(entry, fmt.Errorf("queue: send: %w", cause))
			continue
		}
		again, reasons = append(again, entry), append(reasons, fmt.Errorf("%w: send: %w", ErrUnavailable, cause))
	}
	return again, reasons
}
