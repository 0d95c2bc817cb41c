package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"devplatform/infra/local/triggers"
)

// openTriggers reads how far the event source mappings have come. They begin with [platform.startTriggers].
func (p *platform) openTriggers(context.Context) (err error) {
	if len(p.stack.EventSourceMappings) == 0 {
		return nil
	}
	p.triggers, err = triggers.Open(triggers.Options{
		Mappings:     p.stack.EventSourceMappings,
		Invoke:       p.runtime.Invoke,
		Endpoint:     p.endpoint(),
		Region:       p.settings.Region,
		Account:      account,
		AccessKeyID:  p.settings.AccessKeyID,
		SecretKey:    p.settings.SecretKey,
		SessionToken: p.settings.SessionToken,
		Dir:          p.positionsDir(),
		Now:          now,
		Logger:       p.logger,
	})
	return err
}

// positionsDir is where the positions are kept. Another endpoint has its own: its streams are others, and a look at it must
// not cost the place in those of here.
func (p *platform) positionsDir() string {
	return filepath.Join(p.settings.DataDir, "triggers", url.QueryEscape(p.settings.EndpointURL))
}

// startTriggers lets the mappings run. It is called when people can work already: what waits in a stream has waited
// since the last stop, and must not hold up a start.
func (p *platform) startTriggers() {
	if p.triggers == nil {
		return
	}
	p.triggers.Start()
	enabled, disabled := 0, 0
	for _, m := range p.stack.EventSourceMappings {
		if m.Enabled {
			enabled++
		} else {
			disabled++
		}
	}
	p.logger.Info(fmt.Sprintf("event source mappings: %d enabled, %d disabled", enabled, disabled))
}

// closeTriggers begins no new batch and lets those in flight finish until ctx ends. What is cut then runs again after the
// next start: that is no failure.
func (p *platform) closeTriggers(ctx context.Context) error {
	if p.triggers == nil {
		return nil
	}
	err := p.triggers.Close(ctx)
	if err != nil && errors.Is(err, context.DeadlineExceeded) {
		p.logger.Warn(err.Error())
		return nil
	}
	return err
}
