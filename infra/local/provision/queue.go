package provision

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/local/resources"
)

const redrivePolicy = "RedrivePolicy"

// queueDefaults are the values of attributes that a template leaves out.
var queueDefaults = map[string]string{
	"VisibilityTimeout": "30", "MaximumMessageSize": "1048576", "MessageRetentionPeriod": "345600",
	"ReceiveMessageWaitTimeSeconds": "0", redrivePolicy: "",
}

// queue creates a queue if it does not exist, and sets its attributes. As an update of CloudFormation does, it sets an
// attribute that the template leaves out to its default.
func (p *provisioner) queue(ctx context.Context, want resources.Queue) error {
	found, err := p.queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &want.Name})
	if _, isMissing := errors.AsType[*types.QueueDoesNotExist](err); isMissing {
		created, err := p.queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &want.Name, Attributes: want.Attributes})
		if err != nil {
			return fmt.Errorf("create: %w", err)
		}
		p.note("queues", want.Name)
		return checkIdentifier("URL", aws.ToString(created.QueueUrl), want.URL)
	}
	if err != nil {
		return fmt.Errorf("find: %w", err)
	}
	if err := checkIdentifier("URL", aws.ToString(found.QueueUrl), want.URL); err != nil {
		return err
	}
	attributes := maps.Clone(queueDefaults)
	maps.Copy(attributes, want.Attributes)
	in := &sqs.SetQueueAttributesInput{QueueUrl: &want.URL, Attributes: attributes}
	if _, err := p.queues.SetQueueAttributes(ctx, in); err != nil {
		return fmt.Errorf("set attributes: %w", err)
	}
	return nil
}

// checkIdentifier returns an error if the URL or ARN of a resource at an endpoint differs from the one in the template.
func checkIdentifier(kind, have, want string) error {
	if have == want {
		return nil
	}
	return fmt.Errorf("has the %s %s, want %s: the endpoint must be a local platform", kind, have, want)
}
