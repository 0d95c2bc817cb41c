package stack

import (
	"maps"
	"slices"
	"strings"
	"time"

	"devplatform/infra/local/triggers/pattern"
)

// typeMapping is CloudFormation's own form of what SAM's events of type DynamoDB become.
const typeMapping = "AWS::Lambda::EventSourceMapping"

// streamReading are the properties that both forms have. What is missing here belongs to other event sources (queues,
// Kinesis, Kafka, …) and is refused; so are some that stand here, with a reason, in refuseForStreams.
var streamReading = map[string]support{
	"StartingPosition": runs, "Enabled": runs, "BatchSize": runs, "MaximumBatchingWindowInSeconds": runs, "FilterCriteria": runs,
	"ParallelizationFactor": runs, "FunctionResponseTypes": runs, "BisectBatchOnFunctionError": runs, "MaximumRetryAttempts": runs,
	"MaximumRecordAgeInSeconds": runs, "TumblingWindowInSeconds": runs, "DestinationConfig": runs, "StartingPositionTimestamp": runs,

	"KmsKeyArn": inert, "MetricsConfig": inert,
}

var (
	streamEventProperties = with(streamReading, map[string]support{"Stream": runs})
	mappingProperties     = with(streamReading, map[string]support{"EventSourceArn": runs, "FunctionName": runs, "Tags": inert})

	filterCriteriaProperties = map[string]support{"Filters": runs}
	filterProperties         = map[string]support{"Pattern": runs}
)

func with(properties, more map[string]support) map[string]support {
	all := maps.Clone(properties)
	maps.Copy(all, more)
	return all
}

// maxFilters is how many filters AWS grants a mapping; the quota begins at five.
const maxFilters = 10

// placedMapping is a mapping with where the template has it. Target is the function as Lambda is told of it: another
// alias is another target.
type placedMapping struct {
	at      place
	line    int
	target  string
	mapping EventSourceMapping
}

// buildStreamEvent lets a function read the stream that one of its events names.
func (r *resolver) buildStreamEvent(event object, function string) {
	p := event.object("Properties", streamEventProperties)
	id := event.at.subject
	m := placedMapping{at: event.at, line: event.line("Type"), target: function, mapping: EventSourceMapping{
		Name: id + event.at.last(), Function: function, Table: p.streamOf("Stream"),
	}}
	if alias := r.aliasOf(id); alias != "" {
		m.target += ":" + alias
	}
	p.reading(&m.mapping)
	r.addMapping(m)
}

func (r *resolver) buildMapping(res *resource) {
	p := r.object(res.at().field("Properties"), orEmpty(res), mappingProperties)
	function, target := p.functionOf("FunctionName")
	m := placedMapping{at: res.at(), line: res.line, target: target, mapping: EventSourceMapping{
		Name: res.id, Function: function, Table: p.streamOf("EventSourceArn"),
	}}
	p.reading(&m.mapping)
	r.addMapping(m)
}

// addMapping refuses what AWS or SAM would: two of one name, and two that bring one stream to one function.
func (r *resolver) addMapping(m placedMapping) {
	for _, other := range r.mappings {
		switch {
		case other.mapping.Name == m.mapping.Name:
			r.add(m.at, m.line, "the event source mapping has the name %s, as another one has", m.mapping.Name)
		case m.target != "" && m.mapping.Table != "" && other.target == m.target && other.mapping.Table == m.mapping.Table:
			r.add(m.at, m.line, "%s reads the stream of %s already, by the event source mapping %s", m.target, m.mapping.Table, other.mapping.Name)
		}
	}
	r.mappings = append(r.mappings, m)
	r.stack.EventSourceMappings = append(r.stack.EventSourceMappings, m.mapping)
}

// reading reads how the stream is read, with AWS's defaults.
// https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-params.html
func (o object) reading(m *EventSourceMapping) {
	o.refuseForStreams()
	m.StartingPosition = o.startingPosition()
	m.Enabled = o.boolean("Enabled", true)
	m.BatchSize = o.integer("BatchSize", 100, 1, 10_000)
	m.BatchingWindow = time.Duration(o.integer("MaximumBatchingWindowInSeconds", 0, 0, 300)) * time.Second
	m.Filters = o.filters()
	m.ParallelizationFactor = o.integer("ParallelizationFactor", 1, 1, 10)
	m.ReportBatchItemFailures = o.reportsFailures()
	m.BisectOnError = o.boolean("BisectBatchOnFunctionError", false)
	m.MaximumRetryAttempts = o.integer("MaximumRetryAttempts", -1, -1, 10_000)
	m.MaximumRecordAge = o.recordAge()
}

// refuseForStreams names what a mapping may have and is not done here, or not with streams of DynamoDB.
func (o object) refuseForStreams() {
	if o.has("DestinationConfig") {
		o.problem("DestinationConfig", "on-failure destinations are %s, which has no queues and topics", unsupported)
	}
	if o.has("StartingPositionTimestamp") {
		o.problem("StartingPositionTimestamp", "DynamoDB's streams are read from TRIM_HORIZON or LATEST, on AWS too")
	}
	if o.has("TumblingWindowInSeconds") && o.integer("TumblingWindowInSeconds", 0, 0, 900) != 0 {
		o.problem("TumblingWindowInSeconds", "tumbling windows are %s", unsupported)
	}
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

func (o object) reportsFailures() bool {
	const known = "ReportBatchItemFailures"
	types := o.texts("FunctionResponseTypes")
	for i, typ := range types {
		switch {
		case typ != known:
			o.problem("FunctionResponseTypes", "%q is %s, which knows %s", typ, unsupported, known)
		case i > 0:
			o.problem("FunctionResponseTypes", "AWS takes one value only")
		}
	}
	return slices.Contains(types, known)
}

// filters reads the patterns. A broken one is named here rather than when the mapping starts.
func (o object) filters() []string {
	criteria := o.object("FilterCriteria", filterCriteriaProperties)
	items := criteria.items("Filters")
	if len(items) > maxFilters {
		criteria.problem("Filters", "AWS takes %d at most, these are %d", maxFilters, len(items))
	}
	var filters []string
	for i, item := range items {
		filter := o.r.object(criteria.at.field("Filters").index(i), item, filterProperties)
		filter.origin = item.line
		text := filter.required("Pattern")
		if text == "" {
			continue
		}
		if _, err := pattern.Parse(text); err != nil {
			filter.problem("Pattern", "%v", err)
			continue
		}
		filters = append(filters, text)
	}
	return filters
}

// functionOf finds the function that a property names as Lambda's API takes it: by its name or ARN, with an alias or
// version behind it or without.
func (o object) functionOf(name string) (function, target string) {
	given := o.required(name)
	if given == "" {
		return "", ""
	}
	target = given
	for _, prefix := range []string{o.r.arn("lambda", "function:"), o.r.options.Account + ":function:", "function:"} {
		if rest, found := strings.CutPrefix(given, prefix); found {
			target = rest
			break
		}
	}
	function, _, _ = strings.Cut(target, ":")
	for _, res := range o.r.resources {
		if res.typ == typeFunction && o.r.active(res) && functionName(o.r, res) == function {
			return function, target
		}
	}
	o.problem(name, "%q is no function of this template", given)
	return "", ""
}

// streamOf finds the table whose stream a property names, and gives the table's name.
func (o object) streamOf(name string) string {
	o.r.sources++
	arn := o.required(name)
	o.r.sources--
	if arn == "" {
		return ""
	}
	for _, res := range o.r.resources {
		if res.typ == typeTable && o.r.active(res) && streamARN(o.r, res) == arn {
			return tableName(o.r, res)
		}
	}
	o.problem(name, "must be the %s of an %s of this template", streamAttribute, typeTable)
	return ""
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
