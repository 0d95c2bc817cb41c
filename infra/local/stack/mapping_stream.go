package stack

import (
	"strings"
	"time"
)

var (
	// ofStreams are the properties of mappings that read streams and nothing else. Some stand here to be refused with a reason.
	ofStreams = map[string]support{
		"StartingPosition": runs, "ParallelizationFactor": runs, "BisectBatchOnFunctionError": runs, "MaximumRetryAttempts": runs,
		"MaximumRecordAgeInSeconds": runs, "TumblingWindowInSeconds": runs, "DestinationConfig": runs, "StartingPositionTimestamp": runs,
	}
	streamEventProperties = with(with(sourceReading, with(ofStreams, ofQueues)), map[string]support{"Stream": runs})

	destinationProperties = map[string]support{"OnFailure": runs}
	onFailureProperties   = map[string]support{"Destination": runs}
	// SAM takes the kind of destination beside its ARN, for the rights that the function's role gets.
	samOnFailureProperties = with(onFailureProperties, map[string]support{"Type": runs})
)

// buildStreamEvent lets a function read the stream that one of its events names.
func (r *resolver) buildStreamEvent(event object, function string) {
	const source = "Stream"
	p := event.object("Properties", streamEventProperties)
	m := r.eventMapping(event, function)
	if arn := p.sourceARN(source); arn != "" {
		table, found := r.tableByStream(arn)
		if !found {
			p.problem(source, "must be the %s of an %s of this template", streamAttribute, typeTable)
		}
		m.mapping.Table = table
	}
	p.readingStream(&m.mapping, samOnFailureProperties)
	r.addMapping(m)
}

// readingStream reads how a stream is read, with AWS's defaults.
// https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-params.html
func (o object) readingStream(m *EventSourceMapping, onFailure map[string]support) {
	o.refuse(refusedForStreams)
	if o.has("TumblingWindowInSeconds") && o.integer("TumblingWindowInSeconds", 0, 0, 900) != 0 {
		o.problem("TumblingWindowInSeconds", "tumbling windows are %s", unsupported)
	}
	m.StartingPosition = o.startingPosition()
	o.reading(m, 100)
	m.ParallelizationFactor = o.integer("ParallelizationFactor", 1, 1, 10)
	m.BisectOnError = o.boolean("BisectBatchOnFunctionError", false)
	m.MaximumRetryAttempts = o.integer("MaximumRetryAttempts", -1, -1, 10_000)
	m.MaximumRecordAge = o.recordAge()
	m.OnFailureQueue = o.onFailure(onFailure)
}

// refusedForStreams is what a mapping may have and AWS takes for no stream of DynamoDB.
var refusedForStreams = map[string]string{
	"StartingPositionTimestamp": "DynamoDB's streams are read from TRIM_HORIZON or LATEST, on AWS too",
	"ScalingConfig":             "belongs to queues: the batches of a stream in flight are its shards times ParallelizationFactor",
}

func (o object) startingPosition() string {
	position := o.required("StartingPosition")
	if position != "" && position != "TRIM_HORIZON" && position != "LATEST" {
		o.problem("StartingPosition", "%q: DynamoDB's streams are read from TRIM_HORIZON or LATEST, on AWS too", position)
	}
	return position
}

// recordAge is 0 where records are tried for as long as the stream keeps them, which AWS writes as -1.
func (o object) recordAge() time.Duration {
	const name, lowest = "MaximumRecordAgeInSeconds", 60
	seconds := o.integer(name, -1, -1, 604_800)
	switch {
	case seconds == -1:
		return 0
	case seconds < lowest:
		o.problem(name, "%d must be -1 or at least %d", seconds, lowest)
	}
	return time.Duration(seconds) * time.Second
}

// onFailure finds the queue that is told of the records that are given up; "" where there is none.
func (o object) onFailure(known map[string]support) string {
	destination := o.object("DestinationConfig", destinationProperties)
	if !destination.has("OnFailure") {
		return ""
	}
	failure := destination.object("OnFailure", known)
	if failure.has("Type") {
		failure.oneOf("Type", "SQS", "SQS")
	}
	arn := failure.required("Destination")
	if arn == "" {
		return ""
	}
	for _, other := range []struct{ prefix, kind string }{
		{"arn:" + partition(o.r.options.Region) + ":sns:", "a topic of SNS"},
		{"arn:" + partition(o.r.options.Region) + ":s3:", "a bucket of S3"},
		{"kafka://", "a topic of Kafka"},
	} {
		if strings.HasPrefix(arn, other.prefix) {
			failure.problem("Destination", "%s as a destination is %s, which knows queues", other.kind, unsupported)
			return ""
		}
	}
	return failure.queue("Destination", arn)
}

// tableByStream finds the table whose stream has an ARN, and gives the table's name.
func (r *resolver) tableByStream(arn string) (name string, found bool) {
	for _, res := range r.resources {
		if res.typ == typeTable && r.active(res) && streamARN(r, res) == arn {
			return tableName(r, res), true
		}
	}
	return "", false
}

const streamAttribute = "StreamArn"

// streamARN stands for a stream's ARN where one is read. The label at a real one's end is the time at which the stream began.
func streamARN(r *resolver, res *resource) string {
	return tableARN(r, res) + "/stream/*"
}

// stream is GetAtt's StreamArn of a table. It is known where an event source is asked for, and nowhere else.
func (r *resolver) stream(at place, line int, table *resource) (*node, bool) {
	switch {
	case !r.hasStream(table):
		r.noStream(at, line, table)
		return nil, false
	case r.sources == 0:
		r.add(at, line, "attribute %s of %s (%s) is %s here: a stream's ARN ends with the time at which the stream began",
			streamAttribute, table.id, table.typ, unsupported)
		return nil, false
	}
	return textNode(line, streamARN(r, table)), true
}

func (r *resolver) noStream(at place, line int, table *resource) {
	r.add(at, line, "there is no %s of %s: the table has no StreamSpecification", streamAttribute, table.id)
}

// hasStream tells whether a table has a StreamSpecification; one that is broken has been reported with the table.
func (r *resolver) hasStream(table *resource) bool {
	n := table.properties.get("StreamSpecification")
	if n == nil {
		return false
	}
	r.muted++
	defer func() { r.muted-- }()
	reduced, ok := r.reduce(table.at(), n)
	return !ok || (reduced != nil && reduced.kind != null)
}
