package main

import (
	"context"
	"errors"

	"devplatform/infra/local/runtime"
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

// checkSchedules says whether every expression and time zone of a stack can be understood.
func checkSchedules(s *stack.Stack) error {
	nobody := func(context.Context, runtime.Invocation) (*runtime.Response, error) {
		return nil, errors.New("nothing runs in a check")
	}
	scheduler, err := schedule.Open(schedule.Options{Schedules: s.Schedules, Invoke: nobody, Now: now})
	if err != nil {
		return err
	}
	return scheduler.Close(context.Background())
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
