package triggers

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"devplatform/infra/local/stack"
	"devplatform/infra/local/triggers/pattern"
)

// poller is a mapping at work: it reads its source until there is an end to everything.
type poller interface {
	run()
	// close writes what is to be kept. It is called once, after run has returned.
	close() error
}

// mapping is what event source mappings of all kinds have: a function, and which records it is to get.
type mapping struct {
	options  *Options
	spec     stack.EventSourceMapping
	filters  []*pattern.Pattern
	logger   *slog.Logger
	stopping context.Context //nolint:containedctx // ends when no new batch may begin, not with a call
	working  context.Context //nolint:containedctx // ends when batches in flight are given up
}

func newMapping(t *Triggers, spec stack.EventSourceMapping) (mapping, error) {
	standard := 100
	if spec.Queue != "" {
		standard = 10
	}
	spec.BatchSize = cmp.Or(spec.BatchSize, standard)
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

// stopped tells whether no new batch may begin.
func (m *mapping) stopped() bool { return m.stopping.Err() != nil }

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
