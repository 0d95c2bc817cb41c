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

	"devplatform/shared/db"
	"devplatform/shared/fault"
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

// ErrPoison says, wrapped, of a record that no further try will make sense of it. The record goes where its reader sends what is
// poison, with the error as the reason, and is done with.
var ErrPoison = errors.New("poison")

// Poison takes a record whole, as Lambda showed it in JSON, that can't be made sense of for the reason given, such as
// queue.Queue.Poison. With an error it has not taken it.
type Poison func(ctx context.Context, record []byte, reason error) error

// Stream makes the function's handler of what is done with one record of a DynamoDB stream. Its event source mapping
// must say ReportBatchItemFailures.
//
// Records are handled one after another, in their order, up to the first that fails: an error, a panic, a record that
// can't be read, or too little time left to begin with it. That one alone is reported. Lambda goes on from the
// lowest number that is reported, so whatever was done behind it would be done again, and order would be lost.
//
// A record that can't be read, and one for which handle answers ErrPoison, does not fail if poison takes it. Without poison, nil,
// it does.
func Stream(logger *slog.Logger, handle func(context.Context, StreamRecord) error, poison Poison) *StreamHandler {
	return &StreamHandler{logger: logger, poison: poison, atOnce: 1, handle: func(ctx context.Context, records []StreamRecord) []error {
		return []error{handle(ctx, records[0])}
	}}
}

// StreamBatch is Stream for what is done with all records of an invocation together, such as work in parallel. Handle gets those
// that can be read, in their order, and answers with as many errors, nil for what is done; another number, or a panic, fails all.
//
// The first record that failed is reported, and Lambda shows it again with all behind it, those that were done, too: what is done
// with a record must bear to be done twice. None of those is given to poison before its turn comes without a failure before it.
func StreamBatch(logger *slog.Logger, handle func(context.Context, []StreamRecord) []error, poison Poison) *StreamHandler {
	return &StreamHandler{logger: logger, poison: poison, atOnce: math.MaxInt, handle: handle}
}

// StreamHandler implements aws-lambda-go's Handler.
type StreamHandler struct {
	logger *slog.Logger
	handle func(context.Context, []StreamRecord) []error
	poison Poison
	atOnce int // how many records handle gets at most
}

// batchAnswer is https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html: the sequence numbers of a
// stream's records, the ids of a queue's messages.
type batchAnswer struct {
	Failures []batchFailure `json:"batchItemFailures"`
}

type batchFailure struct {
	Item string `json:"itemIdentifier"`
}

func (a batchAnswer) encode() ([]byte, error) {
	data, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("lambdafn: batch: %w", err)
	}
	return data, nil
}

// streamProgress is how far an invocation has come: how many records are done with, and how many of those poison took, the first of
// them for the reason given. Failed is the number of the record that it stopped at, for its error.
type streamProgress struct {
	records, done, poisoned int
	reason                  error
	failed                  string
	err                     error
}

// Invoke handles one batch. Its error, for what is no batch, makes Lambda try all of it again.
func (h *StreamHandler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var batch struct {
		Records []jsontext.Value `json:"Records"`
	}
	if err := json.Unmarshal(payload, &batch); err != nil || batch.Records == nil {
		return nil, errors.New("lambdafn: this is no event of a DynamoDB stream") // the decoder's error may quote
	}
	ctx, cancel := WithMargin(ctx)
	defer cancel()
	p := streamProgress{records: len(batch.Records)}
	for records := range slices.Chunk(batch.Records, min(h.atOnce, max(len(batch.Records), 1))) {
		if h.upToFailure(ctx, records, &p); p.err != nil {
			break
		}
	}
	h.log(ctx, p)
	answer := batchAnswer{Failures: []batchFailure{}}
	if p.err != nil {
		answer.Failures = append(answer.Failures, batchFailure{p.failed})
	}
	return answer.encode()
}

// upToFailure handles records together, and then sees to them one after another up to the first that failed.
func (h *StreamHandler) upToFailure(ctx context.Context, raw []jsontext.Value, p *streamProgress) {
	records, errs := make([]StreamRecord, len(raw)), make([]error, len(raw))
	var readable []StreamRecord
	var places []int
	for i := range raw {
		if records[i], errs[i] = readRecord(raw[i]); errs[i] == nil {
			readable, places = append(readable, records[i]), append(places, i)
		}
	}
	for i, err := range handleAll(ctx, readable, h.handle) {
		errs[places[i]] = err
	}
	for i, err := range errs {
		if errors.Is(err, ErrPoison) && h.poison != nil {
			err = h.giveAway(ctx, raw[i], err, p)
		}
		if err != nil {
			p.failed, p.err = records[i].SequenceNumber, err
			return
		}
		p.done++
	}
}

// giveAway hands a record to poison. Error: it was not taken.
func (h *StreamHandler) giveAway(ctx context.Context, raw jsontext.Value, reason error, p *streamProgress) error {
	if err := fault.Recover(func() error { return h.poison(ctx, raw, reason) }); err != nil {
		return fmt.Errorf("%w; poison: %w", reason, err)
	}
	if p.poisoned++; p.reason == nil {
		p.reason = reason
	}
	return nil
}

// readRecord reads what is needed of a record; with an error, which is ErrPoison, as much of it as there is.
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
		return record, unreadable("this is no record of a DynamoDB stream")
	}
	if len(inner.NewImage) > 0 && inner.NewImage.Kind() != 'n' {
		if record.NewImage, err = db.ItemFromJSON(inner.NewImage); err != nil {
			return record, unreadable("new image: " + err.Error())
		}
	}
	return record, nil
}

// unreadable is why a record is poison before anybody has looked at what it says.
type unreadable string

func (e unreadable) Error() string { return string(e) }

// Is makes the reason an ErrPoison.
func (e unreadable) Is(target error) bool { return target == ErrPoison }

// log writes the invocation's one line. What is in the records stays out of it.
func (h *StreamHandler) log(ctx context.Context, p streamProgress) {
	level := slog.LevelInfo
	attrs := append([]slog.Attr{
		slog.Int("records", p.records), slog.Int("done", p.done), slog.Int("failed", p.records-p.done),
	}, requestID(ctx)...)
	if p.poisoned > 0 {
		level = slog.LevelError
		attrs = append(attrs, slog.Int("poisoned", p.poisoned), slog.String("reason", p.reason.Error()))
	}
	if p.err != nil {
		level = slog.LevelError
		if ctx.Err() != nil { // out of time: the next invocation goes on with it
			level = slog.LevelWarn
		}
		attrs = append(attrs, slog.String("failedAt", p.failed), slog.String("cause", p.err.Error()))
	}
	h.logger.LogAttrs(ctx, level, "stream batch", attrs...)
}
