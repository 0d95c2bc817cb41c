package triggers

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// destination is the on-failure queue of a mapping.
type destination struct {
	mapping
	queues queueAPI
	link   *link
}

func newDestination(m mapping, queues queueAPI) *destination {
	m.logger = m.logger.With("queue", m.spec.OnFailureQueue)
	return &destination{m, queues, newLink(m.options, m.logger,
		"the on-failure queue can't be reached: records that must be discarded block their lane",
		"the on-failure queue can be reached again")}
}

// send is a discardFunc. It returns when the queue has the message. If a response is lost, the message is sent twice.
func (d *destination) send(ctx context.Context, records discarded) error {
	body, err := json.Marshal(records)
	if err != nil {
		return fmt.Errorf("encode the message: %w", err)
	}
	sent := false
	err = d.link.persist(ctx, records.Batch.ShardID+records.Batch.StartSequence, func(ctx context.Context) error {
		queue, err := d.queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &d.spec.OnFailureQueue})
		if err != nil {
			return fmt.Errorf("find queue %s: %w", d.spec.OnFailureQueue, err)
		}
		// A message in flight is not interrupted by ctx.
		in := &sqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: aws.String(string(body))}
		if _, err := d.queues.SendMessage(d.working, in); err != nil {
			return fmt.Errorf("send to %s: %w", d.spec.OnFailureQueue, err)
		}
		sent = true
		return nil
	}, never)
	if err != nil && !sent {
		return err
	}
	records.log(d.logger)
	return nil
}
