package triggers

import (
	"context"
	"log/slog"
	"time"
)

// Discard is told of records that are given up, before the mapping goes on behind them. It may take its time: the lane
// waits. ctx ends when the mapping must; an error is that it did before anybody was told.
type Discard func(ctx context.Context, d Discarded) error

// Discarded describes a batch that was given up, in the shape of the record that AWS sends to an on-failure destination:
// https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html.
type Discarded struct {
	RequestContext RequestContext `json:"requestContext"`
	// ResponseContext is nil for records that no function has seen.
	ResponseContext *ResponseContext `json:"responseContext,omitempty"`
	// Version is "1.0".
	Version string `json:"version"`
	// Timestamp is when the batch was given up.
	Timestamp          Timestamp           `json:"timestamp"`
	DDBStreamBatchInfo *DDBStreamBatchInfo `json:"DDBStreamBatchInfo,omitempty"`
}

// RequestContext says what was invoked and why no more.
type RequestContext struct {
	// RequestID is that of the last invocation.
	RequestID   string `json:"requestId"`
	FunctionARN string `json:"functionArn"`
	// Condition is "RetryAttemptsExhausted" or "RecordAgeExceeded", or "PayloadTooLarge" for a record that no invocation
	// can take.
	Condition              string `json:"condition"`
	ApproximateInvokeCount int    `json:"approximateInvokeCount"`
}

// ResponseContext is how the last invocation ended.
type ResponseContext struct {
	StatusCode      int    `json:"statusCode"`
	ExecutedVersion string `json:"executedVersion"`
	FunctionError   string `json:"functionError,omitempty"`
}

// DDBStreamBatchInfo says where the records can be found, as long as the stream keeps them.
type DDBStreamBatchInfo struct {
	ShardID                         string    `json:"shardId"`
	StartSequenceNumber             string    `json:"startSequenceNumber"`
	EndSequenceNumber               string    `json:"endSequenceNumber"`
	ApproximateArrivalOfFirstRecord Timestamp `json:"approximateArrivalOfFirstRecord"`
	ApproximateArrivalOfLastRecord  Timestamp `json:"approximateArrivalOfLastRecord"`
	BatchSize                       int       `json:"batchSize"`
	StreamARN                       string    `json:"streamArn"`
}

// Timestamp is a time as AWS writes it in these records: UTC, with milliseconds where there are any.
type Timestamp time.Time

// MarshalText writes "2019-11-14T00:13:49.717Z".
func (t Timestamp) MarshalText() ([]byte, error) {
	return []byte(time.Time(t).UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)), nil
}

func (l *lane) discarded(b batch, why condition) Discarded {
	first, last := b.entries[0], b.entries[len(b.entries)-1]
	d := Discarded{
		RequestContext: RequestContext{
			RequestID: b.last.requestID, Condition: string(why), ApproximateInvokeCount: b.invokes,
			FunctionARN: "arn:aws:lambda:" + l.options.Region + ":" + l.options.Account + ":function:" + l.spec.Function,
		},
		Version: "1.0", Timestamp: Timestamp(l.options.Now()),
		DDBStreamBatchInfo: &DDBStreamBatchInfo{
			ShardID: l.id, StartSequenceNumber: first.sequence, EndSequenceNumber: last.sequence,
			ApproximateArrivalOfFirstRecord: Timestamp(first.created), ApproximateArrivalOfLastRecord: Timestamp(last.created),
			BatchSize: len(b.entries), StreamARN: l.source.arn,
		},
	}
	if b.invokes > 0 {
		d.ResponseContext = &ResponseContext{StatusCode: 200, ExecutedVersion: "$LATEST", FunctionError: b.last.functionError}
	}
	return d
}

// logDiscarded is the Discard of a mapping without a destination: what happened is in the log, the records are not kept.
func (m *streamMapping) logDiscarded(_ context.Context, d Discarded) error {
	logDiscarded(m.logger, d)
	return nil
}

func logDiscarded(logger *slog.Logger, d Discarded) {
	info := d.DDBStreamBatchInfo
	logger.Error("records are discarded", "condition", d.RequestContext.Condition, "shard", info.ShardID,
		"start", info.StartSequenceNumber, "end", info.EndSequenceNumber, "records", info.BatchSize,
		"invocations", d.RequestContext.ApproximateInvokeCount, "requestId", d.RequestContext.RequestID, "stream", info.StreamARN)
}
