package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/shared/async"
	"devplatform/shared/awsclient"
	"devplatform/shared/retry"
)

// Message is a message to send.
type Message struct {
	// Body is not empty, and contains only characters that XML 1.0 allows.
	Body string
	// Group is the message group of a fair queue: a group with many messages does not delay the others. It has at most
	// 128 characters. "" means no group.
	Group string
	// Delay is the time before the message can be received, rounded up to whole seconds. At most 15 minutes.
	Delay time.Duration
}

// sendError contains the error of each message that Send was called with, nil for the messages that were sent.
type sendError struct{ errs []error }

// Error returns a text with the number of failed messages and the first error. The errors rarely differ.
func (e *sendError) Error() string {
	failed := e.Unwrap()
	return fmt.Sprintf("queue: %d of %d messages were not sent: %v", len(failed), len(e.errs), failed[0])
}

// Unwrap returns the errors in the order of the messages.
func (e *sendError) Unwrap() []error {
	return slices.DeleteFunc(slices.Clone(e.errs), func(err error) bool { return err == nil })
}

// FailedAt returns the reason why the i-th message was not sent, or nil if it was sent. err is the error of Send.
func FailedAt(err error, i int) error {
	if failed, ok := errors.AsType[*sendError](err); ok {
		return failed.errs[i]
	}
	return err
}

// Limits of a SendMessageBatch
// (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html), and the number of
// batches that are in flight at a time.
const (
	maxEntries    = 10
	maxBatch      = 1 << 20 // bytes of all bodies
	parallelSends = 4
)

// SendOne sends a message with a message group. Errors: ErrUnavailable.
func (q Queue) SendOne(ctx context.Context, body, group string) error {
	return q.Send(ctx, Message{Body: body, Group: group})
}

// Send sends messages in batches, not atomically and in no particular order. It retries messages that SQS could not
// accept: at most awsclient.MaxAttempts attempts for each batch, within the budget of the operation. See FailedAt for
// the messages that were not sent. Errors: ErrUnavailable if a retry may succeed for at least one of them;
// awsclient.ErrRejected if SQS does not accept at least one of them.
//
// If a response was lost, a message may have been sent although the error says otherwise, or it may be sent twice.
// Consumers must recognize a message that they have already processed.
func (q Queue) Send(ctx context.Context, messages ...Message) error {
	errs := make([]error, len(messages))
	var group async.Group
	group.SetLimit(parallelSends)
	for first, batch := range batches(messages) {
		group.Go(func() error {
			ofBatch := errs[first : first+len(batch)]
			err := async.Recover(func() error {
				q.sendBatch(ctx, batch, ofBatch)
				return nil
			})
			for i := range ofBatch {
				ofBatch[i] = cmp.Or(err, ofBatch[i])
			}
			return nil
		})
	}
	_ = group.Wait() // the functions return no error
	if errors.Join(errs...) == nil {
		return nil
	}
	return &sendError{errs}
}

// batches splits messages into batches that SQS accepts, and yields them with the index of their first message. A
// message that is too large gets a batch of its own.
func batches(messages []Message) iter.Seq2[int, []Message] {
	return func(yield func(int, []Message) bool) {
		first, size := 0, 0
		for i, m := range messages {
			if n := i - first; n == maxEntries || n > 0 && size+len(m.Body) > maxBatch {
				if !yield(first, messages[first:i]) {
					return
				}
				first, size = i, 0
			}
			size += len(m.Body)
		}
		if first < len(messages) {
			yield(first, messages[first:])
		}
	}
}

// sendBatch sends a batch, and retries the entries that SQS could not accept. It sets the error of each message.
func (q Queue) sendBatch(ctx context.Context, batch []Message, errs []error) {
	entries := make([]types.SendMessageBatchRequestEntry, len(batch)) // the ID of each entry is the message's index
	for i, m := range batch {
		entries[i].Id, entries[i].MessageBody = aws.String(strconv.Itoa(i)), &m.Body
		entries[i].DelaySeconds = wholeSeconds(m.Delay)
		if m.Group != "" {
			entries[i].MessageGroupId = &m.Group
		}
	}
	ctx = retry.WithBudget(ctx, awsclient.MaxAttempts-1, retry.MaxTime)
	for range retry.Attempts(ctx, awsclient.MaxAttempts, retry.Jitter) {
		out, err := q.client.sdk.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &q.url, Entries: entries})
		if err != nil { // after the retries of the SDK
			for _, e := range entries {
				i, _ := strconv.Atoi(*e.Id)
				errs[i] = classify("send", err)
			}
			return
		}
		results := map[string]error{}
		for _, sent := range out.Successful {
			results[aws.ToString(sent.Id)] = nil
		}
		for _, failed := range out.Failed {
			results[aws.ToString(failed.Id)] = rejection(failed)
		}
		var retryable []types.SendMessageBatchRequestEntry
		for _, e := range entries {
			i, _ := strconv.Atoi(*e.Id)
			result, ok := results[*e.Id]
			if errs[i] = result; !ok {
				errs[i] = fmt.Errorf("%w: send: the response does not contain the message", ErrUnavailable)
			}
			if errors.Is(errs[i], ErrUnavailable) {
				retryable = append(retryable, e)
			}
		}
		if entries = retryable; len(entries) == 0 {
			return
		}
	}
}

// rejection returns the error of an entry that SQS did not accept.
func rejection(r types.BatchResultErrorEntry) error {
	code := aws.ToString(r.Code)
	_, isThrottled := sdkretry.DefaultThrottleErrorCodes[code]
	if r.SenderFault && !isThrottled {
		return fmt.Errorf("queue: send: %w: %s: %s", awsclient.ErrRejected, code, aws.ToString(r.Message))
	}
	return fmt.Errorf("%w: send: %s: %s", ErrUnavailable, code, aws.ToString(r.Message))
}
