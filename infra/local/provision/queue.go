package provision

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/local/resources"
)

// redrivePolicy has the ARN of another queue. It is set when all queues exist and their ARNs are known: an endpoint may
// have another account than the template was resolved with.
const redrivePolicy = "RedrivePolicy"

// queueDefaults are the values of attributes that a template leaves out. The first one is SQS's. Other endpoints may
// have older defaults: until 2025, the maximum message size was 256 KiB.
var queueDefaults = map[string][]string{
	"VisibilityTimeout": {"30"}, "DelaySeconds": {"0"}, "MaximumMessageSize": {"1048576", "262144"},
	"MessageRetentionPeriod": {"345600"}, "ReceiveMessageWaitTimeSeconds": {"0"}, redrivePolicy: {""},
}

// queueState is a queue of the endpoint.
type queueState struct {
	url        string
	attributes map[string]string
	isNew      bool
}

// findQueue finds a queue and its attributes. It creates the queue without its redrive policy if it does not exist.
func (p *provisioner) findQueue(ctx context.Context, want resources.Queue) error {
	have := &queueState{}
	found, err := p.queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &want.Name})
	var missing *types.QueueDoesNotExist
	switch {
	case errors.As(err, &missing):
		attributes := maps.Clone(want.Attributes)
		delete(attributes, redrivePolicy)
		created, err := p.queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &want.Name, Attributes: attributes})
		if err != nil {
			return fmt.Errorf("create: %w", err)
		}
		p.note("queues", want.Name)
		have.url, have.isNew = aws.ToString(created.QueueUrl), true
	case err != nil:
		return fmt.Errorf("find: %w", err)
	default:
		have.url = aws.ToString(found.QueueUrl)
	}
	out, err := p.queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &have.url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return fmt.Errorf("get attributes: %w", err)
	}
	have.attributes = out.Attributes
	if have.attributes["QueueArn"] == "" {
		return errors.New("get attributes: the endpoint does not return QueueArn")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found[want.LogicalID] = have
	p.actual[want.URL], p.actual[want.ARN] = have.url, have.attributes["QueueArn"]
	return nil
}

// setQueue sets the attributes that differ from the template's. As an update of CloudFormation does, it sets an
// attribute that the template leaves out to its default.
func (p *provisioner) setQueue(ctx context.Context, want resources.Queue) error {
	have, changes := p.found[want.LogicalID], map[string]string{}
	for name, defaults := range queueDefaults {
		current, known := have.attributes[name]
		current = canonical(current)
		if value, given := want.Attributes[name]; given {
			if canonical(value) != current {
				changes[name] = value
			}
		} else if known && !slices.Contains(defaults, current) {
			changes[name] = defaults[0]
		}
	}
	if len(changes) == 0 {
		return nil
	}
	in := &sqs.SetQueueAttributesInput{QueueUrl: &have.url, Attributes: changes}
	if _, err := p.queues.SetQueueAttributes(ctx, in); err != nil {
		return fmt.Errorf("set attributes: %w", err)
	}
	if !have.isNew {
		p.note("attributes of", want.Name+" ("+strings.Join(slices.Sorted(maps.Keys(changes)), ", ")+")")
	}
	return nil
}

// canonical returns equal texts for policies with the same content: an endpoint may quote numbers, and may have another
// order. It returns other values as they are.
func canonical(value string) string {
	var policy map[string]any
	if json.Unmarshal([]byte(value), &policy) != nil {
		return value
	}
	return fmt.Sprint(policy)
}
