package triggers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"

	"devplatform/infra/local/stack"
	"devplatform/infra/local/triggers/pattern"
)

// maxFilters is the most that AWS allows a mapping.
const maxFilters = 10

// mapping is one event source mapping: a function, and the stream of a table that it reads.
type mapping struct {
	options  *Options
	spec     stack.EventSourceMapping
	filters  []*pattern.Pattern
	tables   tableAPI
	streams  streamAPI
	logger   *slog.Logger
	discard  Discard
	stopping context.Context //nolint:containedctx // ends when no new batch may begin, not with a call
	working  context.Context //nolint:containedctx // ends when batches in flight are given up

	positions *positionFile

	mu      sync.Mutex
	failing map[string]bool // pollers whose last request failed
	told    map[string]bool // reasons that were logged since the first of them did
}

func newMapping(t *Triggers, spec stack.EventSourceMapping, tables tableAPI, streams streamAPI) (*mapping, error) {
	spec.BatchSize = cmp.Or(spec.BatchSize, 100)
	spec.ParallelizationFactor = cmp.Or(spec.ParallelizationFactor, 1)
	if err := check(spec); err != nil {
		return nil, err
	}
	m := &mapping{
		options: &t.options, spec: spec, tables: tables, streams: streams, stopping: t.stopping, working: t.working,
		logger:  t.options.Logger.With("mapping", spec.Name, "function", spec.Function),
		failing: map[string]bool{}, told: map[string]bool{},
	}
	m.discard = m.logDiscarded
	for _, text := range spec.Filters {
		filter, err := pattern.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%w, in %s", err, text)
		}
		m.filters = append(m.filters, filter)
	}
	return m, nil
}

// open reads the positions.
func (m *mapping) open() (err error) {
	m.positions, err = openPositions(m.options.Dir, m.spec.Name, m.logger)
	return err
}

// check refuses what AWS refuses.
func check(s stack.EventSourceMapping) error {
	for _, rule := range []struct {
		broken bool
		says   string
	}{
		{s.Name == "" || s.Function == "" || s.Table == "", "name, function and table are required"},
		{s.StartingPosition != trimHorizon && s.StartingPosition != latest, "the starting position must be TRIM_HORIZON or LATEST"},
		{s.BatchSize < 1 || s.BatchSize > 10_000, "the batch size must be 1 to 10,000"},
		{s.BatchingWindow < 0 || s.BatchingWindow > 5*time.Minute, "the batching window must be 0 to 5 minutes"},
		{s.ParallelizationFactor < 1 || s.ParallelizationFactor > 10, "the parallelization factor must be 1 to 10"},
		{s.MaximumRetryAttempts < -1 || s.MaximumRetryAttempts > 10_000, "the maximum of retries must be -1 to 10,000"},
		{len(s.Filters) > maxFilters, "there may be at most 10 filters"},
	} {
		if rule.broken {
			return errors.New(rule.says)
		}
	}
	return nil
}

// persist tries something that needs the endpoint until it is done, ctx ends, or the error is a final one. That the
// endpoint is away is logged when it begins, when there is another reason for it, and when it is over.
func (m *mapping) persist(ctx context.Context, poller string, try func(context.Context) error, final func(error) bool) error {
	for failures := 1; ; failures++ {
		err := try(ctx)
		switch {
		case ctx.Err() != nil:
			m.recovered(poller, false)
			return fmt.Errorf("triggers: stopped: %w", ctx.Err())
		case err == nil || final(err):
			m.recovered(poller, err == nil)
			return err
		}
		var busy *types.LimitExceededException
		if !errors.As(err, &busy) { // which is there, and wants to be asked less often
			m.failed(poller, err)
		}
		pause(ctx, m.options.Backoff(failures))
	}
}

func (m *mapping) failed(poller string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if why := reason(err); !m.told[why] {
		m.told[why] = true
		m.logger.Warn("the stream can't be read: trying again until it can", "table", m.spec.Table, "error", err)
	}
	m.failing[poller] = true
}

func (m *mapping) recovered(poller string, say bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.failing[poller] {
		return
	}
	delete(m.failing, poller)
	if len(m.failing) > 0 {
		return
	}
	clear(m.told)
	if say {
		m.logger.Info("the stream can be read again", "table", m.spec.Table)
	}
}

// reason is what an error comes from, without what is another with each request: operations, ids, ports.
func reason(err error) string {
	var answer smithy.APIError
	if errors.As(err, &answer) {
		return answer.ErrorCode() + ": " + answer.ErrorMessage()
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err.Error()
}

// pause waits, and tells whether ctx let it.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// wants tells whether a record takes part: it matches one of the filters, or there are none.
func (m *mapping) wants(event map[string]any) bool {
	if len(m.filters) == 0 {
		return true
	}
	for _, filter := range m.filters {
		if filter.Match(event) {
			return true
		}
	}
	return false
}
