package platform

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"

	"devplatform/infra/local/schedule"
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
		Mappings:     p.Stack.EventSourceMappings,
		Invoke:       p.runtime.Invoke,
		Waits:        p.runtime.Waits,
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

// openSchedules opens the schedules, which start with start.
func (p *Platform) openSchedules(context.Context) error {
	if len(p.Stack.Schedules) == 0 {
		return nil
	}
	p.schedules = schedule.Open(schedule.Options{
		Schedules: p.Stack.Schedules,
		Invoke:    p.runtime.Invoke,
		Region:    p.config.Region,
		Account:   Account,
		Now:       now,
		Logger:    p.logger,
	})
	return nil
}
