package stack

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"devplatform/infra/local/triggers/pattern"
)

// typeMapping is CloudFormation's own form of what SAM's events of the types DynamoDB and SQS become.
const typeMapping = "AWS::Lambda::EventSourceMapping"

var (
	// sourceReading are the properties that mappings of both sources have, streams and queues. What is missing here and in
	// their own tables belongs to other sources (Kinesis, Kafka, …) and is refused.
	sourceReading = map[string]support{
		"Enabled": runs, "BatchSize": runs, "MaximumBatchingWindowInSeconds": runs, "FilterCriteria": runs, "FunctionResponseTypes": runs,

		"KmsKeyArn": inert, "MetricsConfig": inert,
	}
	mappingProperties = with(with(sourceReading, with(ofStreams, ofQueues)),
		map[string]support{"EventSourceArn": runs, "FunctionName": runs, "Tags": inert})

	filterCriteriaProperties = map[string]support{"Filters": runs}
	filterProperties         = map[string]support{"Pattern": runs}
)

func with(properties, more map[string]support) map[string]support {
	all := maps.Clone(properties)
	maps.Copy(all, more)
	return all
}

const (
	// maxFilters is how many filters AWS grants a mapping; the quota begins at five.
	maxFilters = 10
	maxBatch   = 10_000
)

// placedMapping is a mapping with where the template has it. Target is the function as Lambda is told of it: another
// alias is another target.
type placedMapping struct {
	at      place
	line    int
	target  string
	mapping EventSourceMapping
}

// eventMapping is the mapping that SAM makes of an event of a function.
func (r *resolver) eventMapping(event object, function string) placedMapping {
	id := event.at.subject
	m := placedMapping{at: event.at, line: event.line("Type"), target: function, mapping: EventSourceMapping{
		Name: id + event.at.last(), Function: function,
	}}
	if alias := r.aliasOf(id); alias != "" {
		m.target += ":" + alias
	}
	return m
}

// buildMapping builds CloudFormation's form: what it reads, its ARN tells.
func (r *resolver) buildMapping(res *resource) {
	const source = "EventSourceArn"
	p := r.object(res.at().field("Properties"), orEmpty(res), mappingProperties)
	function, target := p.functionOf("FunctionName")
	m := placedMapping{at: res.at(), line: res.line, target: target, mapping: EventSourceMapping{Name: res.id, Function: function}}
	arn := p.sourceARN(source)
	table, isStream := r.tableByStream(arn)
	queue, isQueue := r.queueByARN(arn)
	switch {
	case isQueue:
		m.mapping.Queue = queue
		p.readingQueue(&m.mapping)
	case arn != "" && !isStream:
		p.problem(source, "must be the %s of an %s of this template, or the Arn of an %s", streamAttribute, typeTable, typeQueue)
		return
	default:
		m.mapping.Table = table
		p.readingStream(&m.mapping, onFailureProperties)
	}
	r.addMapping(m)
}

// sourceARN is a property that names what is read: there a stream's ARN is known.
func (o object) sourceARN(name string) string {
	o.r.sources++
	defer func() { o.r.sources-- }()
	return o.required(name)
}

// addMapping refuses what AWS or SAM would: two of one name, and two that bring one source to one function.
func (r *resolver) addMapping(m placedMapping) {
	source := cmp.Or(m.mapping.Table, m.mapping.Queue)
	for _, other := range r.mappings {
		switch {
		case other.mapping.Name == m.mapping.Name:
			r.add(m.at, m.line, "the event source mapping has the name %s, as another one has", m.mapping.Name)
		case m.target == "" || source == "" || other.target != m.target:
		case m.mapping.Table != "" && other.mapping.Table == m.mapping.Table:
			r.add(m.at, m.line, "%s reads the stream of %s already, by the event source mapping %s", m.target, source, other.mapping.Name)
		case m.mapping.Queue != "" && other.mapping.Queue == m.mapping.Queue:
			r.add(m.at, m.line, "%s reads %s already, by the event source mapping %s", m.target, source, other.mapping.Name)
		}
	}
	r.mappings = append(r.mappings, m)
	r.stack.EventSourceMappings = append(r.stack.EventSourceMappings, m.mapping)
}

// reading reads what mappings of both sources have.
func (o object) reading(m *EventSourceMapping, batch int) {
	m.Enabled = o.boolean("Enabled", true)
	m.BatchSize = o.integer("BatchSize", batch, 1, maxBatch)
	m.BatchingWindow = time.Duration(o.integer("MaximumBatchingWindowInSeconds", 0, 0, 300)) * time.Second
	m.Filters = o.filters()
	m.ReportBatchItemFailures = o.reportsFailures()
}

// refuse names the properties that a mapping of the other source has, each with the reason.
func (o object) refuse(reasons map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		if o.has(name) {
			o.problem(name, "%s", reasons[name])
		}
	}
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
// version behind it or without. Target is its name with what stands behind it.
func (o object) functionOf(name string) (function, target string) {
	given := o.required(name)
	if given == "" {
		return "", ""
	}
	if function, target, found := o.r.functionByARN(given); found {
		return function, target
	}
	target = given
	for _, prefix := range []string{o.r.options.Account + ":function:", "function:"} {
		if rest, found := strings.CutPrefix(given, prefix); found {
			target = rest
			break
		}
	}
	if function, found := o.r.functionByName(target); found {
		return function, target
	}
	o.problem(name, "%q is no function of this template", given)
	return "", ""
}

// functionByARN finds the function of this template that has an ARN, which may go on with an alias or a version.
func (r *resolver) functionByARN(arn string) (function, target string, found bool) {
	if target, found = strings.CutPrefix(arn, r.arn("lambda", "function:")); !found {
		return "", "", false
	}
	function, found = r.functionByName(target)
	return function, target, found
}

// functionByName finds the function that a target names before its first colon.
func (r *resolver) functionByName(target string) (function string, found bool) {
	function, _, _ = strings.Cut(target, ":")
	for _, res := range r.resources {
		if res.typ == typeFunction && r.active(res) && functionName(r, res) == function {
			return function, true
		}
	}
	return "", false
}
