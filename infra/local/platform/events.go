package platform

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"

	"devplatform/infra/local/schedule"
	"devplatform/infra/local/stack"
	"devplatform/infra/local/triggers"
)

// openTriggers opens the event source mappings, which start with start.
func (p *Platform) openTriggers(context.Context) (err error) {
	if len(p.Stack.EventSourceMappings) == 0 {
		return nil
	}
	var streamChanged func(arn string) <-chan struct{}
	var transport http.RoundTripper
	if p.database != nil {
		streamChanged = p.database.StreamChanged
		transport = inProcess{http.HandlerFunc(p.services.service)}
	}
	p.triggers, err = triggers.Open(triggers.Options{
		Mappings:     limitConcurrency(p.Stack, p.config.Concurrency),
		Invoke:       p.runtime.Invoke,
		Endpoint:     p.endpoint(),
		Transport:    transport,
		Region:       p.config.Region,
		Account:      Account,
		AccessKeyID:  p.config.AccessKeyID,
		SecretKey:    p.config.SecretKey,
		SessionToken: p.config.SessionToken,
		// Another endpoint has other streams, so its positions are in another folder.
		Dir:           filepath.Join(p.config.DataDir, "triggers", url.QueryEscape(p.config.EndpointURL)),
		Now:           now,
		Logger:        p.logger,
		StreamChanged: streamChanged,
	})
	return err
}

// limitConcurrency returns the mappings. Those of queues process at most as many batches at a time as their function
// has instances. Messages that wait for an instance would be invisible to the queue, which could not be fair to its
// groups. The minimum of a mapping is 2.
func limitConcurrency(s *stack.Stack, instances int) []stack.EventSourceMapping {
	limits := map[string]int{}
	for _, f := range s.Functions {
		limits[f.Name] = max(cmp.Or(min(f.ReservedConcurrency, instances), instances), 2)
	}
	mappings := slices.Clone(s.EventSourceMappings)
	for i, m := range mappings {
		if m.Queue != "" {
			mappings[i].MaximumConcurrency = min(cmp.Or(m.MaximumConcurrency, limits[m.Function]), limits[m.Function])
		}
	}
	return mappings
}

// openSchedules opens the schedules, which start with start.
func (p *Platform) openSchedules(context.Context) (err error) {
	if len(p.Stack.Schedules) == 0 {
		return nil
	}
	p.schedules, err = schedule.Open(schedule.Options{
		Schedules: p.Stack.Schedules,
		Invoke:    p.runtime.Invoke,
		Region:    p.config.Region,
		Account:   Account,
		Now:       now,
		Logger:    p.logger,
	})
	return err
}
