package stack

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const typeQueue = "AWS::SQS::Queue"

// queueProperties: how a queue is encrypted has no effect on a laptop. Those of FIFO queues stand here to be refused with a
// reason.
var queueProperties = with(fifoProperties, map[string]support{
	"QueueName": runs, "VisibilityTimeout": runs, "DelaySeconds": runs, "MaximumMessageSize": runs, "MessageRetentionPeriod": runs,
	"ReceiveMessageWaitTimeSeconds": runs, redrive: runs, redriveAllow: runs,

	"KmsDataKeyReusePeriodSeconds": inert, "KmsMasterKeyId": inert, "SqsManagedSseEnabled": inert, "Tags": inert,
})

var (
	fifoProperties = map[string]support{
		"FifoQueue": runs, "ContentBasedDeduplication": runs, "DeduplicationScope": runs, "FifoThroughputLimit": runs,
	}
	redriveProperties      = map[string]support{"deadLetterTargetArn": runs, "maxReceiveCount": runs}
	redriveAllowProperties = map[string]support{"redrivePermission": runs, "sourceQueueArns": runs}
)

const (
	redrive      = "RedrivePolicy"
	redriveAllow = "RedriveAllowPolicy"

	allowAll = "allowAll"
	byQueue  = "byQueue"
)

// redrivePolicy and redriveAllowPolicy are the two as SQS takes them.
type (
	redrivePolicy struct {
		DeadLetterTargetARN string `json:"deadLetterTargetArn"`
		MaxReceiveCount     int    `json:"maxReceiveCount"`
	}
	redriveAllowPolicy struct {
		Permission string   `json:"redrivePermission"`
		Sources    []string `json:"sourceQueueArns,omitempty"`
	}
)

// queueNumbers are the attributes that are whole numbers, with SQS's bounds (seconds, and bytes for the size).
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
var queueNumbers = []struct {
	name            string
	lowest, highest int
}{
	{"VisibilityTimeout", 0, 43_200},
	{"DelaySeconds", 0, 900},
	{"MaximumMessageSize", 1_024, 1_048_576},
	{"MessageRetentionPeriod", 60, 1_209_600},
	{"ReceiveMessageWaitTimeSeconds", 0, 20},
}

// defaultVisibility is a queue's VisibilityTimeout unless it is set, in seconds.
const defaultVisibility = 30

// maxQueueName is how many characters a queue's name may have.
const maxQueueName = 80

var queueNamePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

func queueName(r *resolver, res *resource) string {
	return namedWithin("QueueName", maxQueueName)(r, res)
}

func queueARN(r *resolver, res *resource) string {
	return r.arn("sqs", queueName(r, res))
}

// queueURL is predicted: another endpoint than the platform's own may choose another one (see [Stack.RebindQueues]).
func queueURL(r *resolver, res *resource) string {
	endpoint := strings.TrimSuffix(r.options.QueueEndpoint, "/")
	if endpoint == "" {
		endpoint = "https://sqs." + r.options.Region + "." + urlSuffix(r.options.Region)
	}
	return endpoint + "/" + r.options.Account + "/" + queueName(r, res)
}

func (r *resolver) buildQueue(res *resource) {
	p := r.object(res.at().field("Properties"), orEmpty(res), queueProperties)
	queue := Queue{
		LogicalID: res.id, Name: queueName(r, res), ARN: queueARN(r, res), URL: queueURL(r, res), Attributes: map[string]string{},
	}
	p.refuseFIFO(queue.Name)
	if !queueNamePattern.MatchString(queue.Name) && !strings.HasSuffix(queue.Name, fifoSuffix) {
		r.add(res.at(), res.line, "%q can't be a queue's name: letters, digits, - and _ only, 80 at most", queue.Name)
	}
	for _, number := range queueNumbers {
		if p.has(number.name) {
			queue.Attributes[number.name] = strconv.Itoa(p.integer(number.name, number.lowest, number.lowest, number.highest))
		}
	}
	if p.has(redrive) {
		queue.Attributes[redrive] = p.redrivePolicy()
	}
	if p.has(redriveAllow) {
		queue.Attributes[redriveAllow] = p.redriveAllowPolicy()
	}
	r.stack.Queues = append(r.stack.Queues, queue)
}

const fifoSuffix = ".fifo"

// refuseFIFO names what makes a queue a FIFO queue, and what only such a queue can have.
func (o object) refuseFIFO(name string) {
	const fifo = "FIFO queues are " + unsupported
	for _, property := range []string{"ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit"} {
		if o.has(property) {
			o.problem(property, "belongs to FIFO queues: "+fifo)
		}
	}
	switch {
	case o.has("FifoQueue") && !o.boolean("FifoQueue", true):
		o.problem("FifoQueue", "is true or absent: SQS knows no false here")
	case o.has("FifoQueue"):
		o.problem("FifoQueue", fifo)
	case o.has("QueueName") && strings.HasSuffix(name, fifoSuffix):
		o.problem("QueueName", fifo)
	}
}

// redrivePolicy says which queue gets the messages that were received in vain, and after how many times.
func (o object) redrivePolicy() string {
	p := o.document(redrive, redriveProperties)
	if p.n == nil { // and has been reported
		return ""
	}
	policy := redrivePolicy{DeadLetterTargetARN: p.required("deadLetterTargetArn")}
	if policy.DeadLetterTargetARN != "" {
		p.queue("deadLetterTargetArn", policy.DeadLetterTargetARN)
	}
	if p.required("maxReceiveCount") != "" {
		policy.MaxReceiveCount = p.integer("maxReceiveCount", 1, 1, 1000)
	}
	return compact(policy)
}

// redriveAllowPolicy says which queues may have this one for their dead letters.
func (o object) redriveAllowPolicy() string {
	const most = 10
	p := o.document(redriveAllow, redriveAllowProperties)
	policy := redriveAllowPolicy{p.required("redrivePermission"), p.texts("sourceQueueArns")}
	if policy.Permission == "" {
		return ""
	}
	p.oneOf("redrivePermission", "", allowAll, "denyAll", byQueue)
	switch {
	case (policy.Permission == byQueue) != (len(policy.Sources) > 0):
		p.problem("sourceQueueArns", "stand with redrivePermission %s, and only there", byQueue)
	case len(policy.Sources) > most:
		p.problem("sourceQueueArns", "AWS takes %d at most, these are %d", most, len(policy.Sources))
	}
	prefix := o.r.arn("sqs", "")
	for _, source := range policy.Sources {
		if name, found := strings.CutPrefix(source, prefix); !found || !queueNamePattern.MatchString(name) {
			p.problem("sourceQueueArns", "%q is no ARN of a queue in this account and region", source)
		}
	}
	return compact(policy)
}

// queue finds the queue of this template that has an ARN, and gives its name. name is the property that the ARN is from.
func (o object) queue(name, arn string) string {
	if queue, found := o.r.queueByARN(arn); found {
		return queue
	}
	o.problem(name, "must be the Arn of an %s of this template", typeQueue)
	return ""
}

func (r *resolver) queueByARN(arn string) (name string, found bool) {
	for _, res := range r.resources {
		if res.typ == typeQueue && r.active(res) && queueARN(r, res) == arn {
			return queueName(r, res), true
		}
	}
	return "", false
}

// compact writes a policy as its JSON.
func compact(policy any) string {
	text, err := json.Marshal(policy)
	if err != nil { // of strings and numbers it can't happen
		return ""
	}
	return string(text)
}

// checkRedrive refuses a dead-letter queue that doesn't take messages of a queue that has it, as SQS does when the queue is made.
func (r *resolver) checkRedrive() {
	allowed := map[string]redriveAllowPolicy{}
	for _, queue := range r.stack.Queues {
		var policy redriveAllowPolicy
		if json.Unmarshal([]byte(queue.Attributes[redriveAllow]), &policy) == nil {
			allowed[queue.ARN] = policy
		}
	}
	for _, queue := range r.stack.Queues {
		var policy redrivePolicy
		if json.Unmarshal([]byte(queue.Attributes[redrive]), &policy) != nil {
			continue
		}
		allow, restricted := allowed[policy.DeadLetterTargetARN]
		if restricted && allow.Permission != allowAll && !slices.Contains(allow.Sources, queue.ARN) {
			res := r.byID[queue.LogicalID]
			object{r: r, at: res.at().field("Properties"), n: res.properties}.problem(redrive, "its dead-letter queue's %s doesn't allow it", redriveAllow)
		}
	}
}

// checkVisibility refuses a queue that shows a message again while the function may still work on it, as Lambda does when
// the mapping is made.
func (r *resolver) checkVisibility() {
	timeouts, visible := map[string]int{}, map[string]int{}
	for _, function := range r.stack.Functions {
		timeouts[function.Name] = int(function.Timeout.Seconds())
	}
	for _, queue := range r.stack.Queues {
		visible[queue.Name] = defaultVisibility
		if seconds, err := strconv.Atoi(queue.Attributes["VisibilityTimeout"]); err == nil {
			visible[queue.Name] = seconds
		}
	}
	for _, m := range r.mappings {
		hidden, known := visible[m.mapping.Queue]
		if timeout := timeouts[m.mapping.Function]; known && hidden < timeout {
			r.add(m.at, m.line, "the VisibilityTimeout of %s is %d s, less than the %d s of the function's Timeout: Lambda refuses that",
				m.mapping.Queue, hidden, timeout)
		}
	}
}
