package schedule

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/local/runtime"
)

// queueAPI is the part of the SDK's client that this package uses.
type queueAPI interface {
	GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error)
	SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
}

// sendTimeout limits the time to send an event to its dead-letter queue, including the SDK's retries.
const sendTimeout = 30 * time.Second

func newQueueClient(o Options, client *http.Client) *sqs.Client {
	config := aws.Config{
		Region: o.Region, HTTPClient: client,
		Credentials: credentials.NewStaticCredentialsProvider(o.AccessKeyID, o.SecretKey, o.SessionToken),
	}
	if o.Endpoint != "" {
		config.BaseEndpoint = &o.Endpoint
	}
	return sqs.NewFromConfig(config)
}

// letter is an event that Lambda did not accept, and the reason.
type letter struct {
	due       time.Time
	body      string
	execution string // of the last attempt
	reason    error
	retries   int
	condition string
}

// sendToDeadLetterQueue sends an event to the schedule's dead-letter queue. If there is none, or it can't be reached, the
// complete event is logged.
func (s *schedule) sendToDeadLetterQueue(l letter) {
	logger := s.logger.With("due", stamp(l.due), "retries", l.retries, "error", l.reason)
	if s.spec.DeadLetterQueue == "" {
		logger.Error("event dropped: it could not be delivered", "event", l.body)
		return
	}
	ctx, cancel := context.WithTimeout(s.working, sendTimeout)
	defer cancel()
	if err := s.send(ctx, l); err != nil {
		logger.Error("event dropped: it could not be sent to its dead-letter queue", "queue", s.spec.DeadLetterQueue, "reason", err, "event", l.body)
		return
	}
	logger.Error("event could not be delivered and was sent to the dead-letter queue", "queue", s.spec.DeadLetterQueue)
}

func (s *schedule) send(ctx context.Context, l letter) error {
	queue, err := s.queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &s.spec.DeadLetterQueue})
	if err != nil {
		return fmt.Errorf("find the queue: %w", err)
	}
	code, _ := errorCode(l.reason)
	text := map[string]string{
		"SCHEDULE_ARN":         s.spec.ARN,
		"TARGET_ARN":           "arn:aws:lambda:" + s.options.Region + ":" + s.options.Account + ":function:" + s.spec.Function,
		"SCHEDULED_TIME":       stamp(l.due),
		"EXECUTION_ID":         l.execution,
		"ERROR_CODE":           code,
		"ERROR_MESSAGE":        l.reason.Error(),
		"RETRY_ATTEMPTS":       strconv.Itoa(l.retries),
		"IS_PAYLOAD_TRUNCATED": "false", // an Input is much smaller than the largest message
	}
	if l.condition != "" {
		text["EXHAUSTED_RETRY_CONDITION"] = l.condition
	}
	attributes := map[string]types.MessageAttributeValue{}
	for name, value := range text {
		attributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &value}
	}
	if _, err := s.queues.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: queue.QueueUrl, MessageBody: &l.body, MessageAttributes: attributes,
	}); err != nil {
		return fmt.Errorf("send the event: %w", err)
	}
	return nil
}

// errorCode returns the code of a reason for which Lambda does not accept an event. permanent means that a retry would be
// useless.
func errorCode(err error) (code string, permanent bool) {
	switch {
	case errors.Is(err, runtime.ErrFunctionNotFound):
		return "ResourceNotFoundException", true
	case errors.Is(err, runtime.ErrPayloadTooLarge):
		return "RequestTooLargeException", true
	case errors.Is(err, runtime.ErrThrottled):
		return "TooManyRequestsException", false
	}
	return "AWS.Scheduler.InternalServerError", false
}
