package queue

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strconv"
	"sync"
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

// SendError reports which messages were not sent. It wraps ErrUnavailable if a retry may succeed for at least one
// of them, and awsclient.ErrRejected if SQS does not accept at least one of them.
type SendError struct {
	// Failed contains the errors of the messages that were not sent, by their index in the arguments of Send.
	Failed map[int]error
	sent   int
}

// Error returns a text with the number of failed messages and the first error. The errors rarely differ.
func (e *SendError) Error() string {
	return fmt.Sprintf("queue: %d of %d messages were not sent: %v", len(e.Failed), len(e.Failed)+e.sent, e.Unwrap()[0])
}

// Unwrap returns the errors in the order of the messages.
func (e *SendError) Unwrap() []error {
	errs := make([]error, 0, len(e.Failed))
	for i := range len(e.Failed) + e.sent {
		if err, ok := e.Failed[i]; ok {
			errs = append(errs, err)
		}
	}
	return errs
}

// FailedAt returns the reason why the i-th message was not sent, or nil if it was sent. err is the error of Send.
func FailedAt(err error, i int) error {
	if failed, ok := errors.AsType[*SendError](err); ok {
		return failed.Failed[i]
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
// accept: at most awsclient.MaxAttempts attempts for each batch, within the budget of the operation. Errors:
// *SendError.
//
// If a response was lost, a message may have been sent although the error says otherwise, or it may be sent twice.
// Consumers must recognize a message that they have already processed.
func (q Queue) Send(ctx context.Context, messages ...Message) error {
	failed := map[int]error{}
	var mu sync.Mutex
	var group async.Group
	group.SetLimit(parallelSends)
	for batch := range batches(messages) {
		group.Go(func() error {
			var errs map[string]error
			err := async.Recover(func() error {
				errs = q.sendBatch(ctx, batch)
				return nil
			})
			if err != nil {
				errs = errorOfEach(batch, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for id, err := range errs {
				i, _ := strconv.Atoi(id)
				failed[i] = err
			}
			return nil
		})
	}
	_ = group.Wait() // the functions return no error
	if len(failed) == 0 {
		return nil
	}
	return &SendError{Failed: failed, sent: len(messages) - len(failed)}
}

// entry is a message of a batch. Its ID is the message's index.
type entry = types.SendMessageBatchRequestEntry

// batches splits messages into batches that SQS accepts. A message that is too large gets a batch of its own.
func batches(messages []Message) iter.Seq[[]entry] {
	return func(yield func([]entry) bool) {
		var batch []entry
		size := 0
		for i, m := range messages {
			n := len(m.Body)
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

func (m Message) entry(i int) entry {
	e := entry{Id: aws.String(strconv.Itoa(i)), MessageBody: &m.Body, DelaySeconds: wholeSeconds(m.Delay)}
	if m.Group != "" {
		e.MessageGroupId = &m.Group
	}
	return e
}

// sendBatch sends a batch, and retries the entries that SQS could not accept. It returns the errors of the entries
// that were not sent, by ID.
func (q Queue) sendBatch(ctx context.Context, batch []entry) map[string]error {
	ctx = retry.WithBudget(ctx, awsclient.MaxAttempts-1, retry.MaxTime)
	failed := map[string]error{}
	for range retry.Attempts(ctx, awsclient.MaxAttempts, retry.Jitter) {
		out, err := q.client.sdk.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &q.url, Entries: batch})
		if err != nil { // after the retries of the SDK
			maps.Copy(failed, errorOfEach(batch, classify("send", err)))
			break
		}
		if batch = entriesToRetry(batch, out, failed); len(batch) == 0 {
			break
		}
	}
	return failed
}

// errorOfEach returns an error for each entry, by ID.
func errorOfEach(batch []entry, err error) map[string]error {
	errs := make(map[string]error, len(batch))
	for _, e := range batch {
		errs[*e.Id] = err
	}
	return errs
}

// entriesToRetry returns the entries of a batch that a retry may send. It updates the errors in failed from the
// response.
func entriesToRetry(batch []entry, out *sqs.SendMessageBatchOutput, failed map[string]error) []entry {
	isSent := map[string]bool{}
	for _, s := range out.Successful {
		isSent[aws.ToString(s.Id)] = true
	}
	rejections := map[string]types.BatchResultErrorEntry{}
	for _, r := range out.Failed {
		rejections[aws.ToString(r.Id)] = r
	}
	var retryable []entry
	for _, e := range batch {
		delete(failed, *e.Id)
		if isSent[*e.Id] {
			continue
		}
		r, ok := rejections[*e.Id]
		code := aws.ToString(r.Code)
		_, isThrottled := sdkretry.DefaultThrottleErrorCodes[code]
		switch {
		case !ok:
			failed[*e.Id] = fmt.Errorf("%w: send: the response does not contain the message", ErrUnavailable)
		case r.SenderFault && !isThrottled:
			failed[*e.Id] = fmt.Errorf("queue: send: %w: %s: %s", awsclient.ErrRejected, code, aws.ToString(r.Message))
			continue
		default:
			failed[*e.Id] = fmt.Errorf("%w: send: %s: %s", ErrUnavailable, code, aws.ToString(r.Message))
		}
		retryable = append(retryable, e)
	}
	return retryable
}
