package main

import (
	"context"

	"devplatform/infra/local/schedule"
	"devplatform/infra/local/stack"
)

// openSchedules checks the schedules. They begin with [platform.startSchedules].
func (p *platform) openSchedules(context.Context) (err error) {
	if len(p.stack.Schedules) == 0 {
		return nil
	}
	p.schedules, err = schedule.Open(schedule.Options{
		Schedules:    p.stack.Schedules,
		Invoke:       p.runtime.Invoke,
		Endpoint:     p.endpoint(),
		Region:       p.settings.Region,
		Account:      account,
		AccessKeyID:  p.settings.AccessKeyID,
		SecretKey:    p.settings.SecretKey,
		SessionToken: p.settings.SessionToken,
		Now:          now,
		Logger:       p.logger,
	})
	return err
}

// startSchedules lets the schedules fire, once people can work: a rate counts from here.
func (p *platform) startSchedules() {
	if p.schedules == nil {
		return
	}
	p.schedules.Start()
	p.logger.Info("schedules: " + countEnabled(p.stack.Schedules, func(s stack.Schedule) bool { return s.Enabled }))
}

// closeSchedules fires no more and lets what was invoked finish until ctx ends.
func (p *platform) closeSchedules(ctx context.Context) error {
	if p.schedules == nil {
		return nil
	}
	return p.orCut(p.schedules.Close(ctx))
}
