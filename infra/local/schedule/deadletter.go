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

// queueAPI is what is used of the SDK's client.
type queueAPI interface {
	GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error)
	SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
}

// buryTimeout bounds the way of an event to its dead-letter queue, the SDK's retries included.
const buryTimeout = 30 * time.Second

func newQueueClient(o Options, client *http.Client) *sqs.Client {
	options := sqs.Options{
		Region: o.Region, HTTPClient: client,
		Credentials: aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider(o.AccessKeyID, o.SecretKey, o.SessionToken)),
	}
	if o.Endpoint != "" {
		options.BaseEndpoint = &o.Endpoint
	}
	return sqs.New(options)
}

// letter is an event that nobody took, and why.
type letter struct {
	due       time.Time
	body      string
	execution string // of the last attempt
	reason    error
	retries   int
	condition string
}

// bury sends an event to the schedule's dead-letter queue. An event that has none, or that can't be sent there, is logged whole.
func (s *schedule) bury(l letter) {
	logger := s.logger.With("due", stamp(l.due), "retries", l.retries, "error", l.reason)
	if s.spec.DeadLetterQueue == "" {
		logger.Error("event dropped: it could not be delivered", "event", l.body)
		return
	}
	ctx, cancel := context.WithTimeout(s.working, buryTimeout)
	defer cancel()
	if err := s.send(ctx, l); err != nil {
		logger.Error("event dropped: its dead-letter queue did not take it", "queue", s.spec.DeadLetterQueue, "reason", err, "event", l.body)
		return
	}
	logger.Error("event could not be delivered and went to the dead-letter queue", "queue", s.spec.DeadLetterQueue)
}

func (s *schedule) send(ctx context.Context, l letter) error {
	queue, err := s.queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &s.spec.DeadLetterQueue})
	if err != nil {
		return fmt.Errorf("look up the queue: %w", err)
	}
	attributes := map[string]types.MessageAttributeValue{}
	for name, value := range s.attributes(l) {
		attributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &value}
	}
	if _, err := s.queues.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: queue.QueueUrl, MessageBody: &l.body, MessageAttributes: attributes,
	}); err != nil {
		return fmt.Errorf("send the event: %w", err)
	}
	return nil
}

// attributes are those that the two services put on a message, by their names.
func (s *schedule) attributes(l letter) map[string]string {
	why := refusalOf(l.reason)
	all := map[string]string{
		"ERROR_MESSAGE":  l.reason.Error(),
		"RETRY_ATTEMPTS": strconv.Itoa(l.retries),
		"TARGET_ARN":     "arn:aws:lambda:" + s.options.Region + ":" + s.options.Account + ":function:" + s.spec.Function,
	}
	if l.condition != "" {
		all["EXHAUSTED_RETRY_CONDITION"] = l.condition
	}
	if s.spec.Rule {
		all["RULE_ARN"], all["ERROR_CODE"] = s.spec.ARN, why.ruleCode
		return all
	}
	all["SCHEDULE_ARN"], all["ERROR_CODE"] = s.spec.ARN, why.schedulerCode
	all["EXECUTION_ID"], all["SCHEDULED_TIME"] = l.execution, stamp(l.due)
	all["IS_PAYLOAD_TRUNCATED"] = "false" // an Input is far smaller than a message may be
	return all
}

// refusal is a reason for which Lambda didn't take an event: what the services call it, and whether it is for good.
type refusal struct {
	err                     error
	ruleCode, schedulerCode string
	permanent               bool
}

var refusals = []refusal{
	{runtime.ErrFunctionNotFound, "NO_RESOURCE", "ResourceNotFoundException", true},
	{runtime.ErrPayloadTooLarge, "INVALID_PARAMETER", "RequestTooLargeException", true},
	{runtime.ErrThrottled, "THROTTLING", "TooManyRequestsException", false},
}

func refusalOf(err error) refusal {
	for _, r := range refusals {
		if errors.Is(err, r.err) {
			return r
		}
	}
	return refusal{err, "UNKNOWN", "AWS.Scheduler.InternalServerError", false}
}
