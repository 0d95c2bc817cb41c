package stack

import (
	"cmp"
	"slices"
	"time"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/triggers/pattern"
)

type (
	// sourceProperties are the properties that streams and queues have in common.
	sourceProperties struct {
		Enabled               bool          `cfn:",default=true"`
		BatchingWindow        time.Duration `cfn:"MaximumBatchingWindowInSeconds,max=300"`
		FunctionResponseTypes []string
		FilterCriteria        struct {
			Filters []struct {
				object

				Pattern string `cfn:",required"`
			}
		}
	}
	// streamEventProperties belong to an event of the type DynamoDB.
	// https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-params.html
	streamEventProperties struct {
		object `ignored:"KmsKeyArn MetricsConfig"`
		sourceProperties

		Stream                     string `cfn:",required"`
		StartingPosition           string `cfn:",required,oneof=TRIM_HORIZON|LATEST"`
		BatchSize                  int    `cfn:",default=100,min=1,max=10000"`
		ParallelizationFactor      int    `cfn:",default=1,min=1,max=10"`
		BisectBatchOnFunctionError bool
		MaximumRetryAttempts       int `cfn:",default=-1,min=-1,max=10000"`
		MaximumRecordAgeInSeconds  int `cfn:",default=-1,min=-1,max=604800"`
		DestinationConfig          struct {
			OnFailure *struct {
				object

				Type        string `cfn:",default=SQS,oneof=SQS"`
				Destination string `cfn:",required"`
			}
		}
	}
	// queueEventProperties belong to an event of the type SQS.
	// https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-parameters.html
	queueEventProperties struct {
		object `ignored:"KmsKeyArn MetricsConfig"`
		sourceProperties

		Queue         string `cfn:",required"`
		BatchSize     int    `cfn:",default=10,min=1,max=10000"`
		ScalingConfig struct {
			MaximumConcurrency int `cfn:",min=2,max=1000"`
		}
	}
)

const (
	// maxReceived is the number of messages that one call returns. For larger batches, Lambda needs time to gather them.
	maxReceived = 10

	reportItemFailures = "ReportBatchItemFailures"
)

// mapping returns the event source mapping of an event, with the properties that both sources have.
func (s sourceProperties) mapping(o object, ev eventProperties, f resources.Function) resources.EventSourceMapping {
	for i, typ := range s.FunctionResponseTypes {
		if typ != reportItemFailures || i > 0 {
			o.problem("FunctionResponseTypes", "must be [%s]", reportItemFailures)
		}
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
	return resources.EventSourceMapping{
		Name: ev.id(), Function: f.Name, Enabled: s.Enabled, Filters: filters,
		BatchingWindow:          s.BatchingWindow,
		ReportBatchItemFailures: slices.Contains(s.FunctionResponseTypes, reportItemFailures),
	}
}

// streamEvent lets a function read the stream of a table.
func (b *builder) streamEvent(ev eventProperties, f resources.Function) {
	var p streamEventProperties
	b.decodeEvent(ev, &p)
	m := p.mapping(p.object, ev, f)
	if table := b.resourceOf(p.object, "Stream", typeTable, streamAttribute); table != nil {
		m.Table = b.nameOf(table)
	}
	m.StartingPosition, m.BatchSize, m.ParallelizationFactor = p.StartingPosition, p.BatchSize, p.ParallelizationFactor
	m.BisectOnError, m.MaximumRetryAttempts = p.BisectBatchOnFunctionError, p.MaximumRetryAttempts
	switch age := p.MaximumRecordAgeInSeconds; {
	case age >= 60:
		m.MaximumRecordAge = time.Duration(age) * time.Second
	case age >= 0 && p.n != nil: // without p.n, the defaults were not set
		p.problem("MaximumRecordAgeInSeconds", "%d must be -1 or at least 60", age)
	}
	if failure := p.DestinationConfig.OnFailure; failure != nil {
		if queue := b.resourceOf(failure.object, "Destination", typeQueue, "Arn"); queue != nil {
			m.OnFailureQueue = b.nameOf(queue)
		}
	}
	b.addMapping(ev, m)
}

// queueEvent lets a function read a queue.
func (b *builder) queueEvent(ev eventProperties, f resources.Function) {
	var p queueEventProperties
	b.decodeEvent(ev, &p)
	m := p.mapping(p.object, ev, f)
	m.BatchSize, m.MaximumConcurrency = p.BatchSize, p.ScalingConfig.MaximumConcurrency
	if queue := b.resourceOf(p.object, "Queue", typeQueue, "Arn"); queue != nil {
		m.Queue = b.nameOf(queue)
		b.checkVisibility(ev, queue, f)
	}
	if m.BatchSize > maxReceived && m.BatchingWindow == 0 {
		p.problem("BatchSize", "%d needs a MaximumBatchingWindowInSeconds of at least 1; without it the maximum is %d",
			m.BatchSize, maxReceived)
	}
	b.addMapping(ev, m)
}

// addMapping adds a mapping, unless the function already reads the source: AWS refuses that.
func (b *builder) addMapping(ev eventProperties, m resources.EventSourceMapping) {
	source := cmp.Or(m.Table, m.Queue)
	for _, other := range b.stack.EventSourceMappings {
		if source != "" && other.Function == m.Function && other.Table == m.Table && other.Queue == m.Queue {
			b.add(ev.at, ev.lineOf("Type"), "%s already reads %s, with the event source mapping %s",
				m.Function, source, other.Name)
		}
	}
	b.stack.EventSourceMappings = append(b.stack.EventSourceMappings, m)
}
