package stack

import (
	"encoding/json"
	"strconv"

	"devplatform/infra/local/resources"
)

type (
	// queueProperties are the properties of a queue. The properties of FIFO queues are not supported.
	queueProperties struct {
		object `ignored:"KmsDataKeyReusePeriodSeconds KmsMasterKeyId RedriveAllowPolicy SqsManagedSseEnabled Tags"`

		VisibilityTimeout             *int `cfn:",max=43200"`
		MaximumMessageSize            *int `cfn:",min=1024,max=1048576"`
		MessageRetentionPeriod        *int `cfn:",min=60,max=1209600"`
		ReceiveMessageWaitTimeSeconds *int `cfn:",max=20"`
		RedrivePolicy                 *redrivePolicy
	}
	redrivePolicy struct {
		object `json:"-"`

		DeadLetterTargetARN string `cfn:"deadLetterTargetArn,required" json:"deadLetterTargetArn"`
		MaxReceiveCount     int    `cfn:"maxReceiveCount,required,min=1,max=1000" json:"maxReceiveCount"`
	}
)

func (b *builder) queue(res *resource) {
	var p queueProperties
	b.decodeProperties(res, &p)
	queue := resources.Queue{
		LogicalID: res.id, Name: b.nameOf(res), ARN: b.arn(res), URL: b.expandFor(res, resourceTypes[typeQueue].ref),
		Attributes: map[string]string{},
	}
	for name, value := range map[string]*int{
		"VisibilityTimeout": p.VisibilityTimeout, "MaximumMessageSize": p.MaximumMessageSize,
		"MessageRetentionPeriod": p.MessageRetentionPeriod, "ReceiveMessageWaitTimeSeconds": p.ReceiveMessageWaitTimeSeconds,
	} {
		if value != nil {
			queue.Attributes[name] = strconv.Itoa(*value)
		}
	}
	if policy := p.RedrivePolicy; policy != nil {
		b.resourceOf(policy.object, "deadLetterTargetArn", typeQueue, "Arn")
		text, _ := json.Marshal(policy) // a string and a number
		queue.Attributes["RedrivePolicy"] = string(text)
	}
	b.stack.Queues = append(b.stack.Queues, queue)
}

// checkVisibility refuses a queue that would deliver a message again while the function may still process it. Lambda
// refuses such an event source mapping.
func (b *builder) checkVisibility(ev eventProperties, queue *resource, f resources.Function) {
	visibility, err := strconv.Atoi(b.tryText(queue.properties.get("VisibilityTimeout"), "30"))
	if timeout := int(f.Timeout.Seconds()); err == nil && visibility < timeout {
		b.add(ev.at, ev.lineOf("Type"), "the VisibilityTimeout of %s is %d s, less than the function's Timeout of %d s: "+
			"Lambda refuses this", b.nameOf(queue), visibility, timeout)
	}
}
