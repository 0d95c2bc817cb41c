package triggers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/triggers/pattern"
)

// Limits of AWS on mappings: https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html.
const (
	maxBatch       = 10_000
	maxWindow      = 5 * time.Minute
	maxFilters     = 10
	maxConcurrency = 1000
)

// The payload of an invocation is the payloads of the records between payloadHead and payloadTail, with commas.
const (
	payloadHead = `{"Records":[`
	payloadTail = `]}`
)

// poller is an enabled mapping.
type poller interface {
	// run reads the source until the context stopping ends.
	run()
	// close saves the progress. It is called once, after run.
	close() error
}

// mapping is the part that event source mappings of all sources have in common.
type mapping struct {
	options  *Options
	spec     resources.EventSourceMapping
	filters  []*pattern.Pattern
	logger   *slog.Logger
	stopping context.Context // ends when no new batch may begin
	working  context.Context // ends when batches in flight are given up
}

func newMapping(t *Triggers, spec resources.EventSourceMapping) (mapping, error) {
	batchSize := 100
	if spec.Queue != "" {
		batchSize = 10
	}
	spec.BatchSize = cmp.Or(spec.BatchSize, batchSize)
	spec.ParallelizationFactor = cmp.Or(spec.ParallelizationFactor, 1)
	m := mapping{
		options: &t.options, spec: spec, stopping: t.stopping, working: t.working,
		logger: t.options.Logger.With("mapping", spec.Name, "function", spec.Function),
	}
	if err := check(spec); err != nil {
		return m, err
	}
	for _, text := range spec.Filters {
		filter, err := pattern.Parse(text)
		if err != nil {
			return m, fmt.Errorf("%w, in %s", err, text)
		}
		m.filters = append(m.filters, filter)
	}
	return m, nil
}

// check returns an error for a mapping that AWS does not accept.
func check(s resources.EventSourceMapping) error {
	type rule struct {
		broken  bool
		message string
	}
	rules := []rule{
		{
			s.Name == "" || s.Function == "" || (s.Table == "") == (s.Queue == ""),
			"name, function and one of table and queue are required",
		},
		{s.BatchSize < 1 || s.BatchSize > maxBatch, "the batch size must be 1 to 10,000"},
		{s.BatchingWindow < 0 || s.BatchingWindow > maxWindow, "the batching window must be 0 to 5 minutes"},
		{len(s.Filters) > maxFilters, "there may be at most 10 filters"},
	}
	if s.Queue != "" {
		rules = append(rules,
			rule{strings.HasSuffix(s.Queue, ".fifo"), "FIFO queues are not supported"},
			rule{
				s.BatchSize > maxReceive && s.BatchingWindow < time.Second,
				"a batch size above 10 needs a batching window of at least 1 second",
			},
			rule{
				s.MaximumConcurrency != 0 && (s.MaximumConcurrency < 2 || s.MaximumConcurrency > maxConcurrency),
				"the maximum concurrency must be 2 to 1,000",
			},
			rule{s.OnFailureQueue != "", "a queue has no on-failure destination: use a dead-letter queue"},
		)
	} else {
		rules = append(rules,
			rule{
				s.StartingPosition != trimHorizon && s.StartingPosition != latest,
				"the starting position must be TRIM_HORIZON or LATEST",
			},
			rule{s.ParallelizationFactor < 1 || s.ParallelizationFactor > 10, "the parallelization factor must be 1 to 10"},
			rule{s.MaximumRetryAttempts < -1 || s.MaximumRetryAttempts > 10_000, "the maximum of retries must be -1 to 10,000"},
		)
	}
	for _, r := range rules {
		if r.broken {
			return errors.New(r.message)
		}
	}
	return nil
}

// stopped reports whether no new batch may begin.
func (m *mapping) stopped() bool { return m.stopping.Err() != nil }

// wants reports whether the function gets a record: it matches one of the filters, or there are none.
func (m *mapping) wants(event map[string]any) bool {
	matches := func(filter *pattern.Pattern) bool { return filter.Match(event) }
	return len(m.filters) == 0 || slices.ContainsFunc(m.filters, matches)
}

// invoke runs the function with a batch of n records.
func (m *mapping) invoke(n int, record func(i int) []byte) (*runtime.Response, error) {
	payload := []byte(payloadHead)
	for i := range n {
		if i > 0 {
			payload = append(payload, ',')
		}
		payload = append(payload, record(i)...)
	}
	payload = append(payload, payloadTail...)
	return m.options.Invoke(m.working, runtime.Invocation{Function: m.spec.Function, Payload: payload})
}
