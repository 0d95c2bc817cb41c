package stack

import (
	"time"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/triggers/pattern"
)

type (
	// streamEventProperties belong to an event of the type DynamoDB.
	// https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-params.html
	streamEventProperties struct {
		object

		Stream                     string        `cfn:",required"`
		StartingPosition           string        `cfn:",required,oneof=TRIM_HORIZON"`
		BatchSize                  int           `cfn:",default=100,min=1,max=10000"`
		BatchingWindow             time.Duration `cfn:"MaximumBatchingWindowInSeconds,max=300"`
		ParallelizationFactor      int           `cfn:",default=1,min=1,max=10"`
		FunctionResponseTypes      []string      `cfn:",required,oneof=ReportBatchItemFailures"`
		BisectBatchOnFunctionError string        `cfn:",required,oneof=true"`
		MaximumRecordAge           time.Duration `cfn:"MaximumRecordAgeInSeconds,required,min=60,max=604800"`
		FilterCriteria             struct {
			Filters []struct {
				object

				Pattern string `cfn:",required"`
			}
		}
		DestinationConfig struct {
			OnFailure struct {
				object

				Destination string `cfn:",required"`
			}
		}
	}
	// queueEventProperties belong to an event of the type SQS.
	// https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-parameters.html
	queueEventProperties struct {
		object

		Queue                 string   `cfn:",required"`
		BatchSize             int      `cfn:",default=10,min=1,max=10"`
		FunctionResponseTypes []string `cfn:",required,oneof=ReportBatchItemFailures"`
		ScalingConfig         struct {
			MaximumConcurrency int `cfn:",required,min=2,max=1000"`
		}
	}
)

// streamEvent lets a function read the stream of a table.
func (b *builder) streamEvent(ev eventProperties, f resources.Function) {
	var p streamEventProperties
	b.decodeEvent(ev, &p)
	m := resources.EventSourceMapping{
		Name: ev.id(), Function: f.Name, BatchSize: p.BatchSize, BatchingWindow: p.BatchingWindow,
		ParallelizationFactor: p.ParallelizationFactor, MaximumRecordAge: p.MaximumRecordAge,
	}
	for _, filter := range p.FilterCriteria.Filters {
		if filter.Pattern == "" {
			continue
		}
		if _, err := pattern.Parse(filter.Pattern); err != nil {
			filter.problem("Pattern", "%v", err)
		}
		m.Filters = append(m.Filters, filter.Pattern)
	}
	if table := b.resourceOf(p.object, "Stream", typeTable, streamAttribute); table != nil {
		m.Table = b.nameOf(table)
	}
	if queue := b.resourceOf(p.DestinationConfig.OnFailure.object, "Destination", typeQueue, "Arn"); queue != nil {
		m.OnFailureQueue = b.nameOf(queue)
	}
	b.stack.EventSourceMappings = append(b.stack.EventSourceMappings, m)
}

// queueEvent lets a function read a queue.
func (b *builder) queueEvent(ev eventProperties, f resources.Function) {
	var p queueEventProperties
	b.decodeEvent(ev, &p)
	m := resources.EventSourceMapping{
		Name: ev.id(), Function: f.Name, BatchSize: p.BatchSize, MaximumConcurrency: p.ScalingConfig.MaximumConcurrency,
	}
	if queue := b.resourceOf(p.object, "Queue", typeQueue, "Arn"); queue != nil {
		m.Queue = b.nameOf(queue)
		b.checkVisibility(ev, queue, f)
	}
	b.stack.EventSourceMappings = append(b.stack.EventSourceMappings, m)
}
