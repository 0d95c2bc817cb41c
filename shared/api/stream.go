package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/db"
)

// StreamRecord is a change in a table's stream.
type StreamRecord struct {
	// SequenceNumber is the record's place in its shard.
	SequenceNumber string
	// EventName is INSERT, MODIFY or REMOVE.
	EventName string
	// NewImage is the item after the change; nil if it was removed, or the stream does not show it.
	NewImage db.Item
	// At is when the change was made, to the second.
	At time.Time
}

// Stream makes the function's handler of what is done with one record of a DynamoDB stream. Its event source mapping
// must say ReportBatchItemFailures.
//
// Records are handled one after another, in their order, up to the first that fails: an error, a panic, a record that
// can't be read, or too little time left to begin with it. That one alone is reported. Lambda goes on from the
// lowest number that is reported, so whatever was done behind it would be done again, and order would be lost.
func Stream(logger *slog.Logger, handle func(context.Context, StreamRecord) error) *StreamHandler {
	return &StreamHandler{logger: logger, handle: handle}
}

// StreamHandler implements aws-lambda-go's Handler.
type StreamHandler struct {
	logger *slog.Logger
	handle func(context.Context, StreamRecord) error
}

// streamAnswer is https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html.
type streamAnswer struct {
	Failures []streamFailure `json:"batchItemFailures"`
}

type streamFailure struct {
	SequenceNumber string `json:"itemIdentifier"`
}

// Invoke handles one batch. Its error, for what is no batch, makes Lambda try all of it again.
func (h *StreamHandler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var batch struct {
		Records []jsontext.Value `json:"Records"`
	}
	if err := json.Unmarshal(payload, &batch); err != nil || batch.Records == nil {
		return nil, errors.New("api: this is no event of a DynamoDB stream") // the decoder's error may quote
	}
	ctx, cancel := withMargin(ctx)
	defer cancel()
	done, failed, err := h.upToFailure(ctx, batch.Records)
	h.log(ctx, len(batch.Records), done, failed, err)
	answer := streamAnswer{Failures: []streamFailure{}}
	if err != nil {
		answer.Failures = append(answer.Failures, streamFailure{failed})
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("api: batch: %w", err)
	}
	return data, nil
}

// upToFailure is how many records were handled, and the number of the next one with the reason, if it failed.
func (h *StreamHandler) upToFailure(ctx context.Context, records []jsontext.Value) (done int, failed string, err error) {
	for _, raw := range records {
		record, err := readRecord(raw)
		if err == nil {
			err = h.one(ctx, record)
		}
		if err != nil {
			return done, record.SequenceNumber, err
		}
		done++
	}
	return done, "", nil
}

func (h *StreamHandler) one(ctx context.Context, record StreamRecord) (err error) {
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("not begun: %w", cause)
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return h.handle(ctx, record)
}

// readRecord reads what is needed of a record; with an error, as much of it as there is.
func readRecord(raw jsontext.Value) (StreamRecord, error) {
	var outer struct {
		EventName string         `json:"eventName"`
		DynamoDB  jsontext.Value `json:"dynamodb"`
	}
	var inner struct {
		SequenceNumber string         `json:"SequenceNumber"`
		Created        float64        `json:"ApproximateCreationDateTime"` // seconds since 1970
		NewImage       jsontext.Value `json:"NewImage"`
	}
	err := json.Unmarshal(raw, &outer)
	if err == nil {
		err = json.Unmarshal(outer.DynamoDB, &inner)
	}
	record := StreamRecord{
		SequenceNumber: inner.SequenceNumber, EventName: outer.EventName,
		At: time.UnixMilli(int64(math.Round(inner.Created * 1000))).UTC(),
	}
	if err != nil || inner.SequenceNumber == "" || outer.EventName == "" {
		return record, errors.New("this is no record of a DynamoDB stream")
	}
	if len(inner.NewImage) > 0 && inner.NewImage.Kind() != 'n' {
		if record.NewImage, err = db.ItemFromJSON(inner.NewImage); err != nil {
			return record, fmt.Errorf("new image: %w", err)
		}
	}
	return record, nil
}

// log writes the invocation's one line. What is in the records stays out of it.
func (h *StreamHandler) log(ctx context.Context, records, done int, failed string, err error) {
	level := slog.LevelInfo
	attrs := []slog.Attr{slog.Int("records", records), slog.Int("done", done), slog.Int("failed", records-done)}
	if invocation, ok := lambdacontext.FromContext(ctx); ok {
		attrs = append(attrs, slog.String("requestId", invocation.AwsRequestID))
	}
	if err != nil {
		level = slog.LevelError
		if ctx.Err() != nil { // out of time: the next invocation goes on with it
			level = slog.LevelWarn
		}
		attrs = append(attrs, slog.String("failedAt", failed), slog.String("cause", err.Error()))
	}
	h.logger.LogAttrs(ctx, level, "stream batch", attrs...)
}
