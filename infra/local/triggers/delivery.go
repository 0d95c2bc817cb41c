package triggers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/local/runtime"
)

// deliver delivers a batch, in several invocations if it is too large for one. Messages that are not done become
// visible when their visibility timeout ends.
func (m *queueMapping) deliver(q *queue, batch []message) {
	for len(batch) > 0 {
		n, size := 0, 0
		for n < len(batch) && (n == 0 || size+len(batch[n].payload) <= payloadRoom) {
			size += len(batch[n].payload) + 1
			n++
		}
		m.attempt(q, batch[:n])
		batch = batch[n:]
	}
}

// attempt is the failure policy, as documented in
// https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html:
//
//   - If the function can't be invoked (for example, it is throttled), the batch is retried while the messages are
//     invisible. After that, they are dropped here: they are still in the queue.
//   - Successful messages are deleted. Failed messages become visible when their visibility timeout ends, which the
//     function may have changed.
//   - The whole batch has failed if the function failed, or returned an item that is not in the batch.
func (m *queueMapping) attempt(q *queue, batch []message) {
	for failures := 1; ; failures++ {
		if batch = m.stillHidden(batch); len(batch) == 0 {
			return
		}
		if m.isStopped() {
			m.release(q, batch)
			return
		}
		result, err := m.runBatch(batch)
		switch {
		case err == nil:
			m.settle(q, batch, result)
			return
		case m.working.Err() != nil:
			return // the result is unknown
		case errors.Is(err, runtime.ErrPayloadTooLarge):
			m.logger.Error("a message is too large for an invocation: it stays in the queue",
				"queue", q.arn, "message", batch[0].id, "reason", err)
			return
		case failures == 1:
			m.logger.Warn("the function can't be invoked: retrying while its messages are invisible",
				"queue", q.arn, "messages", len(batch), "error", err)
		}
		pause(m.stopping, m.options.Backoff(failures))
	}
}

// stillHidden returns the messages that no other reader can have received.
func (m *queueMapping) stillHidden(batch []message) []message {
	now := m.options.Now()
	return slices.DeleteFunc(slices.Clone(batch), func(one message) bool { return !now.Before(one.hidden) })
}

// batchResult is the result of an invocation.
type batchResult struct {
	requestID string
	failed    map[int]bool // indexes of the failed messages
	err       error        // all messages have failed
}

// runBatch invokes the function with a batch. An error means that the function did not run.
func (m *queueMapping) runBatch(batch []message) (result batchResult, err error) {
	response, err := m.invoke(len(batch), func(i int) []byte { return batch[i].payload })
	if err != nil {
		return result, err
	}
	defer func() { _ = response.Body.Close() }()
	result.requestID = response.RequestID
	if response.FunctionError != nil {
		result.err = response.FunctionError
		return result, nil
	}
	index := make(map[string]int, len(batch))
	for i, one := range batch {
		index[one.id] = i
	}
	result.failed, result.err = readPartial(response.Payload, index, "message id")
	return result, nil
}

// settle deletes the messages that are done, and logs a failed batch. The function itself logs failed messages.
func (m *queueMapping) settle(q *queue, batch []message, result batchResult) {
	if result.err != nil {
		m.logger.Warn("the batch failed: its messages become visible when their visibility timeout ends",
			"queue", q.arn, "messages", len(batch), "first", batch[0].id, "requestId", result.requestID, "reason", result.err)
		return
	}
	var done []message
	for i, one := range batch {
		if !result.failed[i] {
			done = append(done, one)
		}
	}
	if len(done) > 0 {
		m.delete(q, done)
	}
}

// delete deletes messages, and retries until their visibility timeout ends, but at least for a second. Then they are
// delivered again.
func (m *queueMapping) delete(q *queue, done []message) {
	ctx, cancel := context.WithTimeout(m.working, max(done[0].hidden.Sub(m.options.Now()), time.Second))
	defer cancel()
	isDeleted := false
	_ = m.link.persist(ctx, func(ctx context.Context) error {
		in := &sqs.DeleteMessageBatchInput{QueueUrl: &q.url}
		for i, one := range done {
			in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{
				Id: aws.String(strconv.Itoa(i)), ReceiptHandle: &one.handle,
			})
		}
		out, err := m.queues.DeleteMessageBatch(ctx, in)
		if err != nil {
			return fmt.Errorf("delete: %w", err)
		}
		for _, failed := range out.Failed { // SQS does not accept the handle: another reader has received the message
			m.logger.Warn("a message that is done can't be deleted: it is delivered again",
				"queue", q.arn, "code", aws.ToString(failed.Code), "message", aws.ToString(failed.Message))
		}
		isDeleted = true
		return nil
	}, nil)
	if !isDeleted {
		m.logger.Warn("messages that are done were not deleted: they are delivered again",
			"queue", q.arn, "messages", len(done), "first", done[0].id)
	}
}

// release makes messages visible again that no function has received.
func (m *queueMapping) release(q *queue, batch []message) {
	if len(batch) == 0 {
		return
	}
	in := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &q.url}
	for i, one := range batch {
		in.Entries = append(in.Entries, types.ChangeMessageVisibilityBatchRequestEntry{
			Id: aws.String(strconv.Itoa(i)), ReceiptHandle: &one.handle,
		})
	}
	if _, err := m.queues.ChangeMessageVisibilityBatch(m.working, in); err != nil {
		m.logger.Warn("messages can't be made visible before their visibility timeout ends",
			"queue", q.arn, "messages", len(batch), "error", err)
	}
}
