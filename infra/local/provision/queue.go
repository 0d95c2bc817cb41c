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

	"devplatform/infra/local/stack"
)

// Attributes that name other queues by their ARNs. They are set when every queue is there and its real ARN is known: an
// endpoint may have another account than the one that the template was resolved with.
const (
	redrivePolicy      = "RedrivePolicy"
	redriveAllowPolicy = "RedriveAllowPolicy"
)

// queueDefaults are the values of attributes that a template leaves out, the first as SQS has it today. Endpoints may be
// older: the largest message was 256 KiB until 2025.
var queueDefaults = map[string][]string{
	"VisibilityTimeout": {"30"}, "DelaySeconds": {"0"}, "MaximumMessageSize": {"1048576", "262144"},
	"MessageRetentionPeriod": {"345600"}, "ReceiveMessageWaitTimeSeconds": {"0"},
	redrivePolicy: {""}, redriveAllowPolicy: {"", `{"redrivePermission":"allowAll"}`},
}

// queueState is a queue as the endpoint has it.
type queueState struct {
	stack.QueueAt
	attributes map[string]string
	// made tells that it was not there before, changed what was set since.
	made    bool
	changed []string
}

// findQueue makes a queue where it is missing, without what names other queues, and finds out where it is and what it has.
func (p *provisioner) findQueue(ctx context.Context, want stack.Queue) error {
	have := &queueState{}
	url, err := p.queueURL(ctx, want.Name)
	var missing *types.QueueDoesNotExist
	if errors.As(err, &missing) {
		url, have.made, err = p.createQueue(ctx, want)
	}
	if err != nil {
		return err
	}
	out, err := p.sqs.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return fmt.Errorf("get attributes: %w", err)
	}
	have.URL, have.ARN, have.attributes = url, out.Attributes["QueueArn"], out.Attributes
	if have.ARN == "" {
		return errors.New("get attributes: the endpoint tells no QueueArn")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queues[want.LogicalID] = have
	return nil
}

func (p *provisioner) queueURL(ctx context.Context, name string) (string, error) {
	out, err := p.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	if err != nil {
		return "", fmt.Errorf("get url: %w", err)
	}
	return aws.ToString(out.QueueUrl), nil
}

func (p *provisioner) createQueue(ctx context.Context, want stack.Queue) (url string, made bool, err error) {
	attributes := maps.Clone(want.Attributes)
	delete(attributes, redrivePolicy)
	delete(attributes, redriveAllowPolicy)
	out, err := p.sqs.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &want.Name, Attributes: attributes})
	var exists *types.QueueNameExists
	if errors.As(err, &exists) { // somebody else was faster, with other attributes: they are compared next
		url, err = p.queueURL(ctx, want.Name)
		return url, false, err
	}
	if err != nil {
		return "", false, fmt.Errorf("create: %w", err)
	}
	p.note(&p.made.Queues, want.Name)
	return aws.ToString(out.QueueUrl), true, nil
}

// setQueue sets the attributes that are others than the template's, as CloudFormation's update does; an attribute that the
// template leaves out gets SQS's default back. Redrive policies come last, in a step of their own: a dead-letter queue must
// allow its sources by then.
func (p *provisioner) setQueue(ctx context.Context, want stack.Queue, redrive bool) error {
	p.mu.Lock()
	have := p.queues[want.LogicalID]
	p.mu.Unlock()
	changes := map[string]string{}
	for name, defaults := range queueDefaults {
		if (name == redrivePolicy) != redrive {
			continue
		}
		if value, differs := change(want.Attributes, have.attributes, name, defaults); differs {
			changes[name] = value
		}
	}
	if len(changes) == 0 {
		return nil
	}
	if _, err := p.sqs.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: &have.URL, Attributes: changes}); err != nil {
		return fmt.Errorf("set attributes: %w", err)
	}
	have.changed = append(have.changed, slices.Sorted(maps.Keys(changes))...)
	return nil
}

// change gives an attribute's value where it is not what the queue has.
func change(want, have map[string]string, name string, defaults []string) (value string, differs bool) {
	current, known := have[name]
	if value, set := want[name]; set {
		return value, canonical(current) != canonical(value)
	}
	isDefault := func(value string) bool { return canonical(value) == canonical(current) }
	return defaults[0], known && !slices.ContainsFunc(defaults, isDefault)
}

// canonical gives texts that are equal where two policies say the same: a number may stand in quotes, and the order of
// members and of sources means nothing. Other values are left as they are.
func canonical(value string) string {
	var policy map[string]any
	if json.Unmarshal([]byte(value), &policy) != nil {
		return value
	}
	for name, member := range policy {
		if items, isList := member.([]any); isList {
			texts := make([]string, len(items))
			for i, item := range items {
				texts[i] = fmt.Sprint(item)
			}
			slices.Sort(texts)
			policy[name] = texts
		}
	}
	return fmt.Sprint(policy)
}

// rebindQueues puts the URLs and ARNs that the endpoint has chosen into the stack.
func (p *provisioner) rebindQueues(s *stack.Stack) {
	found := map[string]stack.QueueAt{}
	for id, have := range p.queues {
		found[id] = have.QueueAt
	}
	s.RebindQueues(found)
}

// noteQueues remembers the queues that were there and have been changed, each with the names of its attributes.
func (p *provisioner) noteQueues(queues []stack.Queue) {
	for _, queue := range queues {
		if have := p.queues[queue.LogicalID]; !have.made && len(have.changed) > 0 {
			p.note(&p.made.QueueAttributes, queue.Name+" ("+strings.Join(have.changed, ", ")+")")
		}
	}
}
