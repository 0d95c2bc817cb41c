package lambdafn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/async"
	"devplatform/shared/awsclient"
	"devplatform/shared/db"
)

// StreamRecord is a change in a DynamoDB stream.
type StreamRecord struct {
	// SequenceNumber is the position of the record in its shard.
	SequenceNumber string
	// EventName is INSERT, MODIFY or REMOVE.
	EventName string
	// NewImage is the item after the change. It is nil if the item was deleted, or if the stream has no new images.
	NewImage db.Item
	// At is the time of the change, with a precision of seconds.
	At time.Time
}

// ErrPoison reports that a record can never be processed. Such a record is passed to the handler's Poison function with
// the error as the reason, and then counts as done.
var ErrPoison = errors.New("poison")

// IsPoison reports whether no retry of a record can succeed after an error: the error is ErrPoison, a service rejected
// a request that the record caused, or the code panicked.
func IsPoison(err error) bool {
	return errors.Is(err, ErrPoison) || errors.Is(err, awsclient.ErrRejected) || errors.Is(err, async.ErrPanic)
}

// Poison stores a record that cannot be processed, for example in a queue (queue.Queue.Poison). record is the JSON of
// the record as Lambda sent it. An error means that the record was not stored.
type Poison func(ctx context.Context, record []byte, reason error) error

// Stream returns a handler that calls handle for each record of a DynamoDB stream, one after another. The event source
// mapping must have ReportBatchItemFailures set.
//
// The handler stops at the first record that fails and reports only that record, because Lambda retries from the lowest
// reported sequence number. A record fails if handle returns an error or panics, if the record is not valid, or if the
// function's time limit is near.
//
// A record that is not valid, or whose error IsPoison, does not fail if poison stores it. If poison is nil, the record
// fails.
func Stream(
	logger *slog.Logger, handle func(context.Context, StreamRecord) error, poison Poison,
) *StreamHandler {
	one := func(ctx context.Context, records []StreamRecord) []error { return []error{handle(ctx, records[0])} }
	return &StreamHandler{logger: logger, handle: one, batchSize: 1, poison: poison}
}

// StreamBatch is like Stream, but its handler calls handle once with all valid records of an invocation, in order, so
// that handle can process them in parallel. handle returns one error for each record, nil if the record is done. If it
// returns the wrong number of errors, all of these records fail. If it panics, or the error of a record is a panic, the
// handler calls it again with each of these records alone.
//
// The handler reports the first record that failed. Lambda sends that record and all later records again, even those
// that are done, so processing must be idempotent. A record is passed to poison only if no earlier record failed.
func StreamBatch(
	logger *slog.Logger, handle func(context.Context, []StreamRecord) []error, poison Poison,
) *StreamHandler {
	return &StreamHandler{logger: logger, handle: handle, batchSize: math.MaxInt, poison: poison}
}

// StreamHandler implements aws-lambda-go's Handler.
type StreamHandler struct {
	logger    *slog.Logger
	handle    func(context.Context, []StreamRecord) []error
	batchSize int // maximum number of records in one call of handle
	poison    Poison
	schedule  *ScheduleHandler // nil without WithSchedule
	queue     *QueueHandler    // nil without WithQueue
}

// WithQueue makes the handler pass the events of SQS queues to a handler of messages. It returns the handler.
func (h *StreamHandler) WithQueue(messages *QueueHandler) *StreamHandler {
	h.queue = messages
	return h
}

// WithSchedule makes the handler also call run for each event of a schedule: an event without Records. It returns the
// handler.
func (h *StreamHandler) WithSchedule(run func(ctx context.Context) error) *StreamHandler {
	h.schedule = Schedule(h.logger, run)
	return h
}

// WithTask makes the handler, which must have a schedule, call run for the events of another schedule:
// {"task":"<task>"} is the Input of that schedule. It returns the handler.
func (h *StreamHandler) WithTask(task string, run func(ctx context.Context) error) *StreamHandler {
	h.schedule.tasks[task] = run
	return h
}

// streamResult is the result of an invocation so far.
type streamResult struct {
	recordCount, doneCount, poisonCount int
	poisonReason                        error  // of the first record that poison stored
	failedAt                            string // the sequence number of the record that failed
	err                                 error  // the error of that record, or nil if no record failed
}

// Invoke handles one batch of a stream, or passes the event of a schedule or a queue to the handler of WithSchedule or
// WithQueue. It returns an error for any other payload.
func (h *StreamHandler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	records, err := parseBatch[jsontext.Value](payload)
	switch {
	case errors.Is(err, errNoRecords) && h.schedule != nil:
		return h.schedule.Invoke(ctx, payload)
	case err != nil:
		return nil, err
	case h.queue != nil && areMessages(records):
		return h.queue.Invoke(ctx, payload)
	}
	ctx, end := WithMargin(ctx)
	defer end()
	result := streamResult{recordCount: len(records)}
	for batch := range slices.Chunk(records, h.batchSize) {
		if h.handleBatch(ctx, batch, &result); result.err != nil {
			break
		}
	}
	h.log(ctx, result)
	if result.err != nil {
		return batchResponse(result.failedAt)
	}
	return batchResponse()
}

// areMessages reports whether records are messages of a queue. All records of an event have the same source.
func areMessages(records []jsontext.Value) bool {
	var record struct {
		Source string `json:"eventSource"`
	}
	return len(records) > 0 && json.Unmarshal(records[0], &record) == nil && record.Source == "aws:sqs"
}

// handleBatch calls handle with the valid records of a batch. It adds the results of the batch to result, up to the
// first record that failed.
func (h *StreamHandler) handleBatch(ctx context.Context, batch []jsontext.Value, result *streamResult) {
	records, errs := make([]StreamRecord, len(batch)), make([]error, len(batch))
	var valid []StreamRecord
	var indexes []int // of the valid records in the batch
	for i := range batch {
		if records[i], errs[i] = parseRecord(batch[i]); errs[i] == nil {
			valid, indexes = append(valid, records[i]), append(indexes, i)
		}
	}
	for i, err := range handleAll(ctx, valid, h.handle) {
		if errors.Is(err, async.ErrPanic) && len(valid) > 1 { // perhaps another record is the cause
			err = handleAll(ctx, valid[i:i+1], h.handle)[0]
		}
		errs[indexes[i]] = err
	}
	for i, err := range errs {
		if IsPoison(err) && h.poison != nil {
			err = h.sendToPoison(ctx, batch[i], err, result)
		}
		if err != nil {
			result.failedAt, result.err = records[i].SequenceNumber, err
			return
		}
		result.doneCount++
	}
}

// sendToPoison passes a record to poison. It returns an error if poison did not store the record.
func (h *StreamHandler) sendToPoison(
	ctx context.Context, record jsontext.Value, reason error, result *streamResult,
) error {
	if err := async.Recover(func() error { return h.poison(ctx, record, reason) }); err != nil {
		return fmt.Errorf("%w; poison: %w", reason, err)
	}
	if result.poisonCount++; result.poisonReason == nil {
		result.poisonReason = reason
	}
	return nil
}

// parseRecord parses a record. All of its errors are ErrPoison. If parsing fails, it also returns the fields that it
// parsed before the error. Errors do not contain values of the record.
func parseRecord(data jsontext.Value) (StreamRecord, error) {
	var parsed struct {
		EventName string `json:"eventName"`
		DynamoDB  struct {
			SequenceNumber string         `json:"SequenceNumber"`
			Created        float64        `json:"ApproximateCreationDateTime"` // seconds since 1970
			NewImage       jsontext.Value `json:"NewImage"`
		} `json:"dynamodb"`
	}
	err := json.Unmarshal(data, &parsed)
	change := parsed.DynamoDB
	record := StreamRecord{
		SequenceNumber: change.SequenceNumber, EventName: parsed.EventName,
		At: time.UnixMilli(int64(math.Round(change.Created * 1000))).UTC(),
	}
	if err != nil || change.SequenceNumber == "" || parsed.EventName == "" {
		return record, fmt.Errorf("%w: not a record of a DynamoDB stream", ErrPoison)
	}
	if len(change.NewImage) > 0 && change.NewImage.Kind() != 'n' {
		if record.NewImage, err = db.ItemFromJSON(change.NewImage); err != nil {
			return record, fmt.Errorf("%w: new image: %w", ErrPoison, err)
		}
	}
	return record, nil
}

// log writes one line for the invocation. The line does not contain the records.
func (h *StreamHandler) log(ctx context.Context, result streamResult) {
	level := slog.LevelInfo
	attrs := append([]slog.Attr{
		slog.Int("records", result.recordCount), slog.Int("done", result.doneCount),
		slog.Int("failed", result.recordCount-result.doneCount),
	}, requestID(ctx)...)
	if result.poisonCount > 0 {
		level = slog.LevelError
		attrs = append(attrs, slog.Int("poisoned", result.poisonCount), slog.String("reason", result.poisonReason.Error()))
	}
	if result.err != nil {
		level = slog.LevelError
		if ctx.Err() != nil { // the time limit was reached; the next invocation continues
			level = slog.LevelWarn
		}
		attrs = append(attrs, slog.String("failedAt", result.failedAt), slog.String("cause", result.err.Error()))
	}
	h.logger.LogAttrs(ctx, level, "stream batch", attrs...)
}

// batchResponse returns the response to a batch of a stream or a queue. failed contains the sequence numbers of the
// records that failed, or the IDs of the messages that failed
// (https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html).
func batchResponse(failed ...string) ([]byte, error) {
	type failure struct {
		Item string `json:"itemIdentifier"`
	}
	response := struct {
		Failures []failure `json:"batchItemFailures"`
	}{Failures: make([]failure, 0, len(failed))}
	for _, item := range failed {
		response.Failures = append(response.Failures, failure{item})
	}
	data, err := json.Marshal(response)
	if err != nil {
		return nil, fmt.Errorf("lambdafn: batch response: %w", err)
	}
	return data, nil
}
