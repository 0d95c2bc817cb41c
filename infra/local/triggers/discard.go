package triggers

import (
	"context"
	"log/slog"
	"time"
)

// discardFunc reports discarded records before the lane continues. It returns an error if ctx ended before.
type discardFunc func(ctx context.Context, d discarded) error

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
	RequestID   string    `json:"requestId"` // of the last invocation
	FunctionARN string    `json:"functionArn"`
	Condition   condition `json:"condition"`
	InvokeCount int       `json:"approximateInvokeCount"`
}

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

func (l *lane) discarded(b batch, condition condition) discarded {
	first, last := b.entries[0], b.entries[len(b.entries)-1]
	d := discarded{
		RequestContext: requestContext{
			RequestID: b.last.requestID, Condition: condition, InvokeCount: b.invokes,
			FunctionARN: "arn:aws:lambda:" + l.options.Region + ":" + l.options.Account + ":function:" + l.spec.Function,
		},
		Version: "1.0", Timestamp: timestamp(l.options.Now()),
		Batch: streamBatch{
			ShardID: l.id, StartSequence: first.sequence, EndSequence: last.sequence,
			FirstArrival: timestamp(first.created), LastArrival: timestamp(last.created),
			Size: len(b.entries), StreamARN: l.source.arn,
		},
	}
	if b.invokes > 0 {
		d.ResponseContext = &responseContext{StatusCode: 200, ExecutedVersion: "$LATEST", FunctionError: b.last.functionError}
	}
	return d
}

// log logs the batch.
func (d *discarded) log(logger *slog.Logger) {
	logger.Error("records are discarded", "condition", d.RequestContext.Condition, "shard", d.Batch.ShardID,
		"start", d.Batch.StartSequence, "end", d.Batch.EndSequence, "records", d.Batch.Size,
		"invocations", d.RequestContext.InvokeCount, "requestId", d.RequestContext.RequestID, "stream", d.Batch.StreamARN)
}
