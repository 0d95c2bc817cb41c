package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"

	"devplatform/infra/local/stack"
	"devplatform/infra/local/triggers"
)

// openTriggers reads how far the event source mappings have come. They begin with [platform.startTriggers].
func (p *platform) openTriggers(context.Context) (err error) {
	if len(p.stack.EventSourceMappings) == 0 {
		return nil
	}
	var streamChanged func(arn string) <-chan struct{}
	if p.database != nil {
		streamChanged = p.database.StreamChanged
	}
	p.triggers, err = triggers.Open(triggers.Options{
		Mappings:      withinInstances(p.stack, p.settings.Concurrency),
		Invoke:        p.runtime.Invoke,
		Endpoint:      p.endpoint(),
		Region:        p.settings.Region,
		Account:       account,
		AccessKeyID:   p.settings.AccessKeyID,
		SecretKey:     p.settings.SecretKey,
		SessionToken:  p.settings.SessionToken,
		Dir:           p.positionsDir(),
		Now:           now,
		Logger:        p.logger,
		StreamChanged: streamChanged,
	})
	return err
}

// withinInstances are the mappings, those of queues taking no more batches at once than their function has instances here, of
// which each has at most so many: what is taken and has to wait for an instance is hidden from everybody meanwhile, and the queue
// could not treat its groups fairly. Two are the least that a mapping can have.
func withinInstances(s *stack.Stack, instances int) []stack.EventSourceMapping {
	most := map[string]int{}
	for _, f := range s.Functions {
		most[f.Name] = max(cmp.Or(min(f.ReservedConcurrency, instances), instances), 2)
	}
	mappings := slices.Clone(s.EventSourceMappings)
	for i, m := range mappings {
		if m.Queue != "" {
			mappings[i].MaximumConcurrency = min(cmp.Or(m.MaximumConcurrency, most[m.Function]), most[m.Function])
		}
	}
	return mappings
}

// positionsDir is where the positions are kept. Another endpoint has its own: its streams are others, and a look at it must
// not cost the place in those of here.
func (p *platform) positionsDir() string {
	return filepath.Join(p.settings.DataDir, "triggers", url.QueryEscape(p.settings.EndpointURL))
}

// startTriggers lets the mappings run. It is called when people can work already: what waits in a stream or a queue has
// waited since the last stop, and must not hold up a start.
func (p *platform) startTriggers() {
	if p.triggers == nil {
		return
	}
	p.triggers.Start()
	enabled := func(m stack.EventSourceMapping) bool { return m.Enabled }
	p.logger.Info("event source mappings: " + countEnabled(p.stack.EventSourceMappings, enabled))
}

// countEnabled says how many of them are enabled.
func countEnabled[T any](all []T, enabled func(T) bool) string {
	count := 0
	for _, one := range all {
		if enabled(one) {
			count++
		}
	}
	return fmt.Sprintf("%d enabled, %d disabled", count, len(all)-count)
}

// closeTriggers begins no new batch and lets those in flight finish until ctx ends. What is cut then runs again after the
// next start: that is no failure.
func (p *platform) closeTriggers(ctx context.Context) error {
	if p.triggers == nil {
		return nil
	}
	return p.orCut(p.triggers.Close(ctx))
}

// orCut takes it for no failure that work was cut at the end of a stop's time.
func (p *platform) orCut(err error) error {
	if err != nil && errors.Is(err, context.DeadlineExceeded) {
		p.logger.Warn(err.Error())
		return nil
	}
	return err
}
