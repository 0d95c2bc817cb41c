package triggers

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// discarded is a batch that was discarded, in the format of the message that AWS sends to an on-failure destination:
// https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html.
type discarded struct {
	RequestContext  requestContext   `json:"requestContext"`
	ResponseContext *responseContext `json:"responseContext,omitempty"` // nil if no function has received the records
	Version         string           `json:"version"`
	Timestamp       timestamp        `json:"timestamp"`
	Batch           streamBatch      `json:"DDBStreamBatchInfo"`
}

// requestContext describes the invocation and why it was discarded.
type requestContext struct {
	RequestID   string `json:"requestId"` // of the last invocation
	FunctionARN string `json:"functionArn"`
	Condition   string `json:"condition"`
	InvokeCount int    `json:"approximateInvokeCount"`
}

// ageExceeded is the condition of records that have exceeded the MaximumRecordAge.
const ageExceeded = "RecordAgeExceeded"

// responseContext describes the last invocation.
type responseContext struct {
	StatusCode      int    `json:"statusCode"`
	ExecutedVersion string `json:"executedVersion"`
	FunctionError   string `json:"functionError,omitempty"`
}

// streamBatch identifies the records in the stream.
type streamBatch struct {
	ShardID       string    `json:"shardId"`
	StartSequence string    `json:"startSequenceNumber"`
	EndSequence   string    `json:"endSequenceNumber"`
	FirstArrival  timestamp `json:"approximateArrivalOfFirstRecord"`
	LastArrival   timestamp `json:"approximateArrivalOfLastRecord"`
	Size          int       `json:"batchSize"`
	StreamARN     string    `json:"streamArn"`
}

// timestamp is encoded as "2019-11-14T00:13:49.717Z".
type timestamp time.Time

// MarshalText implements encoding.TextMarshaler.
func (t timestamp) MarshalText() ([]byte, error) {
	return []byte(time.Time(t).UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)), nil
}

func (l *lane) newDiscarded(b batch) discarded {
	first, last := b.entries[0], b.entries[len(b.entries)-1]
	d := discarded{
		RequestContext: requestContext{
			RequestID: b.last.requestID, Condition: ageExceeded, InvokeCount: b.invokes,
			FunctionARN: "arn:aws:lambda:" + l.options.Region + ":" + l.options.Account + ":function:" + l.spec.Function,
		},
		Version: "1.0", Timestamp: timestamp(l.options.Now()),
		Batch: streamBatch{
			ShardID: l.source.shard, StartSequence: first.sequence, EndSequence: last.sequence,
			FirstArrival: timestamp(first.created), LastArrival: timestamp(last.created),
			Size: len(b.entries), StreamARN: l.source.arn,
		},
	}
	if b.invokes > 0 {
		d.ResponseContext = &responseContext{StatusCode: 200, ExecutedVersion: "$LATEST", FunctionError: b.last.functionError}
	}
	return d
}

// destination is the on-failure queue of a mapping.
type destination struct {
	mapping
	queues queueAPI
	link   link
}

func newDestination(m mapping, queues queueAPI) *destination {
	m.logger = m.logger.With("queue", m.spec.OnFailureQueue)
	return &destination{m, queues, link{m.logger, m.options.Backoff,
		"the on-failure queue can't be reached: records that must be discarded block their lane",
		"the on-failure queue can be reached again"}}
}

// send returns nil when the queue has the message, or an error if the platform stops before that. If a response is
// lost, the message is sent twice.
func (d *destination) send(records discarded) error {
	body, err := json.Marshal(records)
	if err != nil {
		return fmt.Errorf("encode the message: %w", err)
	}
	isSent := false
	err = d.link.persist(d.stopping, func(ctx context.Context) error {
		queue, err := d.queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &d.spec.OnFailureQueue})
		if err != nil {
			return fmt.Errorf("find queue %s: %w", d.spec.OnFailureQueue, err)
		}
		// A message in flight is not interrupted by ctx.
		in := &sqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: aws.String(string(body))}
		if _, err := d.queues.SendMessage(d.working, in); err != nil {
			return fmt.Errorf("send to %s: %w", d.spec.OnFailureQueue, err)
		}
		isSent = true
		return nil
	}, nil)
	if err != nil && !isSent {
		return err
	}
	batch, about := records.Batch, records.RequestContext
	d.logger.Error("records are discarded", "condition", about.Condition, "records", batch.Size,
		"start", batch.StartSequence, "end", batch.EndSequence, "invocations", about.InvokeCount,
		"requestId", about.RequestID, "stream", batch.StreamARN)
	return nil
}
