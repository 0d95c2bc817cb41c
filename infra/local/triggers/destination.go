package triggers

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// destination is the queue that is told of records that are given up.
type destination struct {
	queues  queueAPI
	name    string
	link    *link
	logger  *slog.Logger
	working context.Context //nolint:containedctx // ends when messages on their way are given up

	mu  sync.Mutex
	url string // "" before the queue was first found
}

func newDestination(m mapping, queues queueAPI) *destination {
	logger := m.logger.With("queue", m.spec.OnFailureQueue)
	return &destination{
		queues: queues, name: m.spec.OnFailureQueue, logger: logger, working: m.working,
		link: newLink(m.options, logger,
			"the on-failure queue takes nothing: records that are to be given up hold up the others until it does", "the on-failure queue takes messages again"),
	}
}

// send is a Discard: it returns when the queue has the message, or ctx has ended before. A message may come twice where an
// answer got lost.
func (d *destination) send(ctx context.Context, discarded Discarded) error {
	body, err := json.Marshal(discarded)
	if err != nil {
		return fmt.Errorf("encode what is discarded: %w", err)
	}
	info := discarded.DDBStreamBatchInfo
	sent := false
	err = d.link.persist(ctx, info.ShardID+info.StartSequenceNumber, func(ctx context.Context) error {
		url, err := d.locate(ctx)
		if err != nil {
			return err
		}
		if _, err := d.queues.SendMessage(d.working, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String(string(body))}); err != nil {
			d.forget()
			return fmt.Errorf("send to %s: %w", d.name, err)
		}
		sent = true
		return nil
	}, never)
	if err != nil && !sent {
		return err
	}
	logDiscarded(d.logger, discarded)
	return nil
}

func (d *destination) locate(ctx context.Context) (string, error) {
	d.mu.Lock()
	url := d.url
	d.mu.Unlock()
	if url != "" {
		return url, nil
	}
	out, err := d.queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &d.name})
	if err != nil {
		return "", fmt.Errorf("find queue %s: %w", d.name, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.url = aws.ToString(out.QueueUrl)
	return d.url, nil
}

// forget looks the queue up anew next time: it may be another one by then.
func (d *destination) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.url = ""
}
