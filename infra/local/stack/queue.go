package stack

import (
	"encoding/json"
	"regexp"
	"strconv"
)

type (
	// queueProperties are the properties of a queue. Those of FIFO queues are not supported.
	queueProperties struct {
		object `ignored:"KmsDataKeyReusePeriodSeconds KmsMasterKeyId RedriveAllowPolicy SqsManagedSseEnabled Tags"`

		QueueName                     string
		VisibilityTimeout             *int `cfn:",max=43200"`
		DelaySeconds                  *int `cfn:",max=900"`
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

// defaultVisibility is the VisibilityTimeout of a queue unless it is set, in seconds.
const defaultVisibility = 30

var queueNamePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

func (b *builder) queue(res *resource) {
	var p queueProperties
	b.decodeProperties(res, &p)
	queue := Queue{
		LogicalID: res.id, Name: b.nameOf(res), ARN: b.arn(res), URL: b.expandFor(res, resourceTypes[typeQueue].ref),
		Attributes: map[string]string{},
	}
	if !queueNamePattern.MatchString(queue.Name) {
		b.add(res.at(), res.line, "%q is not a valid name: a queue's name has 1 to 80 letters, digits, - and _ "+
			"(FIFO queues are %s)", queue.Name, unsupported)
	}
	for name, value := range map[string]*int{
		"VisibilityTimeout": p.VisibilityTimeout, "DelaySeconds": p.DelaySeconds, "MaximumMessageSize": p.MaximumMessageSize,
		"MessageRetentionPeriod": p.MessageRetentionPeriod, "ReceiveMessageWaitTimeSeconds": p.ReceiveMessageWaitTimeSeconds,
	} {
		if value != nil {
			queue.Attributes[name] = strconv.Itoa(*value)
		}
	}
	if policy := p.RedrivePolicy; policy != nil {
		if policy.DeadLetterTargetARN != "" {
			b.queueByARN(policy.object, "deadLetterTargetArn", policy.DeadLetterTargetARN)
		}
		text, _ := json.Marshal(policy) // a string and a number
		queue.Attributes["RedrivePolicy"] = string(text)
	}
	b.stack.Queues = append(b.stack.Queues, queue)
}

// queueByARN returns the name of the queue that has the ARN in a property.
func (b *builder) queueByARN(o object, property, arn string) string {
	for _, res := range b.resources {
		if res.typ == typeQueue && b.active(res) && b.arn(res) == arn {
			return b.nameOf(res)
		}
	}
	o.problem(property, "must be the Arn of an %s of this template", typeQueue)
	return ""
}

// checkVisibility refuses a queue that would deliver a message again while the function may still process it. Lambda
// refuses such an event source mapping.
func (b *builder) checkVisibility() {
	timeouts, visible := map[string]int{}, map[string]int{}
	for _, function := range b.stack.Functions {
		timeouts[function.Name] = int(function.Timeout.Seconds())
	}
	for _, queue := range b.stack.Queues {
		visible[queue.Name] = defaultVisibility
		if seconds, err := strconv.Atoi(queue.Attributes["VisibilityTimeout"]); err == nil {
			visible[queue.Name] = seconds
		}
	}
	for i, m := range b.stack.EventSourceMappings {
		seconds, known := visible[m.Queue]
		if timeout := timeouts[m.Function]; known && seconds < timeout {
			ev := b.mappings[i]
			b.add(ev.at, ev.lineOf("Type"), "the VisibilityTimeout of %s is %d s, less than the function's Timeout of %d s: "+
				"Lambda refuses this", m.Queue, seconds, timeout)
		}
	}
}
