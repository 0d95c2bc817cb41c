package lambdafn

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"
)

// QueueMessage is a message that was received from an SQS queue.
type QueueMessage struct {
	ID            string
	ReceiptHandle string // of this receipt, for queue.Queue.Hide
	Body          string
	Group         string            // "" if it was sent without
	Attributes    map[string]string // those that are text
	Receives      int               // how often it was received, this time included
	SentAt        time.Time         // to the millisecond
}

// ErrLater says, wrapped, of a message that it is not done with yet and that this is no failure: it is to come again, when its
// visibility ends.
var ErrLater = errors.New("later")

// Queue makes the function's handler of what is done with the messages of an SQS queue that one invocation brings. Its event
// source mapping must say ReportBatchItemFailures.
//
// Handle answers with as many errors as there are messages: nil for what is done, and is deleted; ErrLater, or any other error,
// for what is to come again. Another number of errors, or a panic, fails all of them. Its context ends a margin before the
// function's time is over.
func Queue(logger *slog.Logger, handle func(ctx context.Context, messages []QueueMessage) []error) *QueueHandler {
	return &QueueHandler{logger: logger, handle: handle}
}

// QueueHandler implements aws-lambda-go's Handler.
type QueueHandler struct {
	logger *slog.Logger
	handle func(context.Context, []QueueMessage) []error
}

var errNoQueueEvent = errors.New("lambdafn: this is no event of an SQS queue")

// Invoke handles one batch. Its error, for what is no batch, makes all of it come again.
func (h *QueueHandler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	messages, err := readMessages(payload)
	if err != nil {
		return nil, err
	}
	ctx, cancel := WithMargin(ctx)
	defer cancel()
	errs := handleAll(ctx, messages, h.handle)
	h.log(ctx, messages, errs)
	answer := batchAnswer{Failures: []batchFailure{}}
	for i, err := range errs {
		if err != nil {
			answer.Failures = append(answer.Failures, batchFailure{messages[i].ID})
		}
	}
	return answer.encode()
}

// readMessages reads an event. A message without an id could not be reported: then none of it is an event.
func readMessages(payload []byte) ([]QueueMessage, error) {
	var event events.SQSEvent
	if err := json.Unmarshal(payload, &event); err != nil || event.Records == nil {
		return nil, errNoQueueEvent // the decoder's error may quote
	}
	messages := make([]QueueMessage, len(event.Records))
	for i, r := range event.Records {
		if r.MessageId == "" {
			return nil, errNoQueueEvent
		}
		// What can't be read of these is 0: SQS always says them, and no message should fail for them.
		receives, _ := strconv.Atoi(r.Attributes["ApproximateReceiveCount"])
		sent, _ := strconv.ParseInt(r.Attributes["SentTimestamp"], 10, 64)
		messages[i] = QueueMessage{
			ID: r.MessageId, ReceiptHandle: r.ReceiptHandle, Body: r.Body, Group: r.Attributes["MessageGroupId"],
			Attributes: texts(r.MessageAttributes), Receives: receives, SentAt: time.UnixMilli(sent).UTC(),
		}
	}
	return messages, nil
}

func texts(attributes map[string]events.SQSMessageAttribute) map[string]string {
	all := make(map[string]string, len(attributes))
	for name, value := range attributes {
		if value.StringValue != nil {
			all[name] = *value.StringValue
		}
	}
	return all
}

// maxLogged bounds how many failures a line tells apart.
const maxLogged = 10

// log writes the invocation's one line. What is in the messages stays out of it.
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
			if failed++; failed <= maxLogged {
				failures = append(failures, failure{messages[i].ID, err.Error()})
			}
		}
	}
	level := slog.LevelInfo
	attrs := append([]slog.Attr{
		slog.Int("messages", len(messages)), slog.Int("done", len(messages)-later-failed), slog.Int("later", later), slog.Int("failed", failed),
	}, requestID(ctx)...)
	if failed > 0 {
		level = slog.LevelError
		attrs = append(attrs, slog.Any("failures", failures))
	}
	h.logger.LogAttrs(ctx, level, "queue batch", attrs...)
}
