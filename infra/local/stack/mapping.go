package stack

import (
	"cmp"
	"slices"
	"time"

	"devplatform/infra/local/triggers/pattern"
)

type (
	// sourceProperties are the properties that streams and queues have in common.
	sourceProperties struct {
		Enabled               bool          `cfn:",default=true"`
		BatchSize             *int          `cfn:",min=1,max=10000"`
		BatchingWindow        time.Duration `cfn:"MaximumBatchingWindowInSeconds,max=300"`
		FunctionResponseTypes []string
		FilterCriteria        struct{ Filters []filterProperties }
	}
	filterProperties struct {
		object

		Pattern string `cfn:",required"`
	}
	// streamEventProperties belong to an event of the type DynamoDB.
	// https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-params.html
	streamEventProperties struct {
		object `ignored:"KmsKeyArn MetricsConfig"`
		sourceProperties

		Stream                     string `cfn:",required"`
		StartingPosition           string `cfn:",required,oneof=TRIM_HORIZON|LATEST"`
		ParallelizationFactor      int    `cfn:",default=1,min=1,max=10"`
		BisectBatchOnFunctionError bool
		MaximumRetryAttempts       int `cfn:",default=-1,min=-1,max=10000"`
		MaximumRecordAgeInSeconds  int `cfn:",default=-1,min=-1,max=604800"`
		DestinationConfig          struct{ OnFailure *destinationProperties }
	}
	destinationProperties struct {
		object

		Type        string `cfn:",default=SQS,oneof=SQS"`
		Destination string `cfn:",required"`
	}
	// queueEventProperties belong to an event of the type SQS.
	// https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-parameters.html
	queueEventProperties struct {
		object `ignored:"KmsKeyArn MetricsConfig"`
		sourceProperties

		Queue         string `cfn:",required"`
		ScalingConfig struct {
			MaximumConcurrency int `cfn:",min=2,max=1000"`
		}
	}
)

const (
	// maxFilters is the number of filters that AWS allows a mapping; the quota begins at five.
	maxFilters = 10
	// maxReceived is the number of messages that one call returns. For larger batches, Lambda needs time to gather them.
	maxReceived = 10

	reportItemFailures = "ReportBatchItemFailures"
)

// mapping returns the event source mapping of an event, with the properties that both sources have.
func (s sourceProperties) mapping(o object, ev eventProperties, f Function, batch int) EventSourceMapping {
	if s.BatchSize == nil {
		s.BatchSize = &batch
	}
	for i, typ := range s.FunctionResponseTypes {
		if typ != reportItemFailures || i > 0 {
			o.problem("FunctionResponseTypes", "must be [%s]", reportItemFailures)
		}
	}
	if len(s.FilterCriteria.Filters) > maxFilters {
		o.problem("FilterCriteria", "has %d filters, AWS allows %d", len(s.FilterCriteria.Filters), maxFilters)
	}
	var filters []string
	for _, filter := range s.FilterCriteria.Filters {
		if filter.Pattern == "" {
			continue
		}
		if _, err := pattern.Parse(filter.Pattern); err != nil {
			filter.problem("Pattern", "%v", err)
		}
		filters = append(filters, filter.Pattern)
	}
	return EventSourceMapping{
		Name: ev.id(), Function: f.Name, Enabled: s.Enabled, BatchSize: *s.BatchSize, Filters: filters,
		BatchingWindow:          s.BatchingWindow,
		ReportBatchItemFailures: slices.Contains(s.FunctionResponseTypes, reportItemFailures),
	}
}

// streamEvent lets a function read the stream of a table.
func (b *builder) streamEvent(ev eventProperties, f Function) {
	var p streamEventProperties
	b.decodeEvent(ev, &p)
	m := p.mapping(p.object, ev, f, 100)
	if p.Stream != "" {
		var found bool
		if m.Table, found = b.tableByStream(p.Stream); !found {
			p.problem("Stream", "must be the %s of an %s of this template", streamAttribute, typeTable)
		}
	}
	m.StartingPosition, m.ParallelizationFactor = p.StartingPosition, p.ParallelizationFactor
	m.BisectOnError, m.MaximumRetryAttempts = p.BisectBatchOnFunctionError, p.MaximumRetryAttempts
	switch age := p.MaximumRecordAgeInSeconds; {
	case age >= 60:
		m.MaximumRecordAge = time.Duration(age) * time.Second
	case age >= 0:
		p.problem("MaximumRecordAgeInSeconds", "%d must be -1 or at least 60", age)
	}
	if failure := p.DestinationConfig.OnFailure; failure != nil && failure.Destination != "" {
		if queue := b.queueByARN(failure.object, "Destination", failure.Destination); queue != nil {
			m.OnFailureQueue = b.nameOf(queue)
		}
	}
	b.addMapping(ev, m)
}

// queueEvent lets a function read a queue.
func (b *builder) queueEvent(ev eventProperties, f Function) {
	var p queueEventProperties
	b.decodeEvent(ev, &p)
	m := p.mapping(p.object, ev, f, maxReceived)
	m.MaximumConcurrency = p.ScalingConfig.MaximumConcurrency
	if p.Queue != "" {
		if queue := b.queueByARN(p.object, "Queue", p.Queue); queue != nil {
			m.Queue = b.nameOf(queue)
			b.checkVisibility(ev, queue, f)
		}
	}
	if m.BatchSize > maxReceived && m.BatchingWindow == 0 {
		p.problem("BatchSize", "%d needs a MaximumBatchingWindowInSeconds of at least 1; without it the maximum is %d",
			m.BatchSize, maxReceived)
	}
	b.addMapping(ev, m)
}

// addMapping adds a mapping, unless the function already reads the source: AWS refuses that.
func (b *builder) addMapping(ev eventProperties, m EventSourceMapping) {
	source := cmp.Or(m.Table, m.Queue)
	for _, other := range b.stack.EventSourceMappings {
		if source != "" && other.Function == m.Function && other.Table == m.Table && other.Queue == m.Queue {
			b.add(ev.at, ev.lineOf("Type"), "%s already reads %s, with the event source mapping %s",
				m.Function, source, other.Name)
		}
	}
	b.stack.EventSourceMappings = append(b.stack.EventSourceMappings, m)
}
