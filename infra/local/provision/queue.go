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

const redrivePolicy = "RedrivePolicy"

// queueDefaults are the values of attributes that a template leaves out.
var queueDefaults = map[string]string{
	"VisibilityTimeout": "30", "DelaySeconds": "0", "MaximumMessageSize": "1048576", "MessageRetentionPeriod": "345600",
	"ReceiveMessageWaitTimeSeconds": "0", redrivePolicy: "",
}

// queue creates a queue if it does not exist, or sets the attributes that differ from the template's. As an update of
// CloudFormation does, it sets an attribute that the template leaves out to its default.
func (p *provisioner) queue(ctx context.Context, want resources.Queue) error {
	found, err := p.queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &want.Name})
	if _, isMissing := errors.AsType[*types.QueueDoesNotExist](err); isMissing {
		created, err := p.queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &want.Name, Attributes: want.Attributes})
		if err != nil {
			return fmt.Errorf("create: %w", err)
		}
		p.note("queues", want.Name)
		return checkName("URL", aws.ToString(created.QueueUrl), want.URL)
	}
	if err != nil {
		return fmt.Errorf("find: %w", err)
	}
	if err := checkName("URL", aws.ToString(found.QueueUrl), want.URL); err != nil {
		return err
	}
	have, err := p.queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &want.URL, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return fmt.Errorf("get attributes: %w", err)
	}
	changes := map[string]string{}
	for name, value := range queueDefaults {
		if given, isGiven := want.Attributes[name]; isGiven {
			value = given
		}
		if canonical(value) != canonical(have.Attributes[name]) {
			changes[name] = value
		}
	}
	if len(changes) == 0 {
		return nil
	}
	in := &sqs.SetQueueAttributesInput{QueueUrl: &want.URL, Attributes: changes}
	if _, err := p.queues.SetQueueAttributes(ctx, in); err != nil {
		return fmt.Errorf("set attributes: %w", err)
	}
	p.note("attributes of", want.Name+" ("+strings.Join(slices.Sorted(maps.Keys(changes)), ", ")+")")
	return nil
}

// checkName returns an error if an endpoint gives a resource another URL or ARN than the template has resolved to.
func checkName(kind, have, want string) error {
	if have == want {
		return nil
	}
	return fmt.Errorf("has the %s %s, want %s: the endpoint must be a local platform", kind, have, want)
}

// canonical returns equal texts for policies with the same content in another order, and other values as they are.
func canonical(value string) string {
	var policy map[string]any
	if json.Unmarshal([]byte(value), &policy) != nil {
		return value
	}
	return fmt.Sprint(policy)
}
