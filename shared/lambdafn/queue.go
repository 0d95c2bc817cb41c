package lambdafn

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// QueueMessage is a message received from an SQS queue.
type QueueMessage struct {
	ID            string
	ReceiptHandle string // for queue.Queue.ReturnAfter
	Body          string
	Group         string    // the message group, "" if there is none
	Receives      int       // the number of times that the message was received, including this time
	SentAt        time.Time // with a precision of milliseconds
}

// ErrLater reports that a message must be processed again later. It is not logged as a failure, but the queue's
// maxReceiveCount includes it. The message is received again when its visibility timeout ends.
var ErrLater = errors.New("later")

// Queue returns a handler that calls handle once with all messages of an invocation. The event source mapping must have
// ReportBatchItemFailures set.
//
// handle returns one error for each message. Lambda deletes a message from the queue if its error is nil. If the error
// is ErrLater or any other error, SQS delivers the message again. If handle panics or returns the wrong number of
// errors, all messages fail. The context of handle ends shortly before the function's time limit.
func Queue(logger *slog.Logger, handle func(ctx context.Context, messages []QueueMessage) []error) *QueueHandler {
	return &QueueHandler{logger: logger, handle: handle}
}

// QueueHandler implements aws-lambda-go's Handler.
type QueueHandler struct {
	logger   *slog.Logger
	handle   func(context.Context, []QueueMessage) []error
	schedule *ScheduleHandler // nil without WithSchedule
}

// WithSchedule makes the handler also call run for each event of a schedule: an event without Records. It returns the
// handler.
func (h *QueueHandler) WithSchedule(run func(ctx context.Context) error) *QueueHandler {
	h.schedule = Schedule(h.logger, run)
	return h
}

// Invoke handles one batch, or passes the event of a schedule to the handler of WithSchedule. It returns an error for
// any other payload.
func (h *QueueHandler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	records, err := parseBatch[events.SQSMessage](payload)
	switch {
	case errors.Is(err, errNoRecords) && h.schedule != nil:
		return h.schedule.Invoke(ctx, payload)
	case err != nil:
		return nil, err
	}
	messages := make([]QueueMessage, len(records))
	for i, r := range records {
		if r.MessageId == "" { // the response could not report this message
			return nil, errNotBatch
		}
		// SQS always sets these attributes. An invalid value is treated as 0, so that it does not make the message fail.
		receives, _ := strconv.Atoi(r.Attributes["ApproximateReceiveCount"])
		sent, _ := strconv.ParseInt(r.Attributes["SentTimestamp"], 10, 64)
		messages[i] = QueueMessage{
			ID: r.MessageId, ReceiptHandle: r.ReceiptHandle, Body: r.Body, Group: r.Attributes["MessageGroupId"],
			Receives: receives, SentAt: time.UnixMilli(sent).UTC(),
		}
	}
	ctx, end := WithMargin(ctx)
	defer end()
	errs := handleAll(ctx, messages, h.handle)
	h.log(ctx, messages, errs)
	var failed []string
	for i, err := range errs {
		if err != nil {
			failed = append(failed, messages[i].ID)
		}
	}
	return batchResponse(failed...)
}

// maxLogged is the maximum number of failures in one log line.
const maxLogged = 10

// log writes one line for the invocation. The line does not contain the messages.
func (h *QueueHandler) log(ctx context.Context, messages []QueueMessage, errs []error) {
	type failure struct {
		ID    string `json:"messageId"`
		Cause string `json:"cause"`
	}
	var failures []failure
	later, failed := 0, 0
	for i, err := range errs {
		switch {
		case errors.Is(err, ErrLater):
			later++
		case err != nil:
			failed++
			if failed <= maxLogged {
				failures = append(failures, failure{messages[i].ID, err.Error()})
			}
		}
	}
	level := slog.LevelInfo
	attrs := append([]slog.Attr{
		slog.Int("messages", len(messages)), slog.Int("done", len(messages)-later-failed),
		slog.Int("later", later), slog.Int("failed", failed),
	}, requestID(ctx)...)
	if failed > 0 {
		level = slog.LevelError
		attrs = append(attrs, slog.Any("failures", failures))
	}
	h.logger.LogAttrs(ctx, level, "queue batch", attrs...)
}
