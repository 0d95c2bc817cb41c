package stack

import "time"

var (
	// ofQueues are the properties of mappings that read queues and nothing else.
	ofQueues             = map[string]support{"ScalingConfig": runs}
	scalingProperties    = map[string]support{"MaximumConcurrency": runs}
	queueEventProperties = with(with(sourceReading, with(ofStreams, ofQueues)), map[string]support{"Queue": runs})
)

// buildQueueEvent lets a function read the queue that one of its events names.
func (r *resolver) buildQueueEvent(event object, function string) {
	const source = "Queue"
	p := event.object("Properties", queueEventProperties)
	m := r.eventMapping(event, function)
	if arn := p.required(source); arn != "" {
		m.mapping.Queue = p.queue(source, arn)
	}
	p.readingQueue(&m.mapping)
	r.addMapping(m)
}

// readingQueue reads how a queue is read, with AWS's defaults.
// https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-parameters.html
func (o object) readingQueue(m *EventSourceMapping) {
	// One receive call answers at most so many messages: for more, Lambda must be given time to gather them.
	const batch, received = 10, 10
	o.refuse(refusedForQueues)
	o.reading(m, batch)
	if m.BatchSize > received && m.BatchingWindow < time.Second {
		o.problem("BatchSize", "%d needs a MaximumBatchingWindowInSeconds of at least 1: without it AWS takes %d at most", m.BatchSize, received)
	}
	if scaling := o.object("ScalingConfig", scalingProperties); scaling.has("MaximumConcurrency") {
		m.MaximumConcurrency = scaling.integer("MaximumConcurrency", 2, 2, 1000)
	}
}

// refusedForQueues is what AWS takes for streams only.
var refusedForQueues = func() map[string]string {
	const (
		order   = "belongs to streams: a queue has no positions and no shards"
		retries = "belongs to streams: how often and for how long a message is tried say the queue's RedrivePolicy and MessageRetentionPeriod"
	)
	return map[string]string{
		"StartingPosition": order, "StartingPositionTimestamp": order, "ParallelizationFactor": order, "TumblingWindowInSeconds": order,
		"BisectBatchOnFunctionError": "belongs to streams: name the messages that failed with FunctionResponseTypes [ReportBatchItemFailures]",
		"MaximumRetryAttempts":       retries, "MaximumRecordAgeInSeconds": retries,
		"DestinationConfig": "belongs to streams: what was received in vain goes to the dead-letter queue of the queue's RedrivePolicy",
	}
}()
