package schedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
	_ "time/tzdata" // the time zones of a template are known on every machine

	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/schedule/expression"
)

// maxInFlight limits the events of a schedule that run or wait for a retry: the events of an hour, if a function that
// always reaches its timeout of 15 minutes is invoked every minute.
const maxInFlight = 64

// readClock is the longest time between two reads of the clock, because timers stop while a machine sleeps, and the
// clock may be adjusted.
const readClock = time.Minute

// Options configure a Scheduler. All are required.
type Options struct {
	// Schedules are the schedules. Those that are not Enabled are checked only.
	Schedules []resources.Schedule
	// Invoke runs a function once, as [runtime.Runtime.Invoke] does.
	Invoke func(ctx context.Context, in runtime.Invocation) (*runtime.Response, error)
	// Region and Account are those in events.
	Region, Account string
	// Now is the clock. It may jump: it is read at least once a minute.
	Now func() time.Time
	// Logger is for problems.
	Logger *slog.Logger
}

// Scheduler runs schedules.
type Scheduler struct {
	options   Options
	random    func(limit time.Duration) time.Duration // from 0 to below limit, for the backoff
	schedules []*schedule

	start   sync.Once
	running sync.WaitGroup
	// stopping ends when schedules may no longer fire or retry, and working ends when invocations in flight are canceled.
	stopping, working   context.Context
	stop, cancelWorking context.CancelFunc
}

// schedule is an enabled schedule.
type schedule struct {
	*Scheduler
	spec     resources.Schedule
	when     expression.Expression
	logger   *slog.Logger
	inFlight chan struct{} // holds an element for each event in flight
}

// Open checks the schedules, including those that are disabled. It does not start them. The error names the schedule
// that is not valid.
func Open(options Options) (*Scheduler, error) {
	if options.Invoke == nil || options.Now == nil || options.Logger == nil {
		return nil, errors.New("schedule: Options.Invoke, Now and Logger are required")
	}
	s := &Scheduler{options: options, random: rand.N[time.Duration]}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.working, s.cancelWorking = context.WithCancel(context.Background())
	for _, spec := range options.Schedules {
		var when expression.Expression
		zone, err := expression.Zone(spec.Timezone)
		if err == nil {
			when, err = expression.Parse(spec.Expression, zone)
		}
		if err != nil {
			return nil, fmt.Errorf("schedule %s: %w", spec.Name, err)
		}
		if spec.Enabled {
			logger := options.Logger.With("schedule", spec.Name, "function", spec.Function)
			s.schedules = append(s.schedules, &schedule{
				Scheduler: s, spec: spec, when: when, logger: logger, inFlight: make(chan struct{}, maxInFlight),
			})
		}
	}
	return s, nil
}

// Start enables the schedules, once. It has no effect after Close.
func (s *Scheduler) Start() {
	s.start.Do(func() {
		enabled := s.now()
		for _, schedule := range s.schedules {
			s.running.Go(func() { schedule.run(enabled) })
		}
	})
}

// Close stops the schedules and the retries, and waits until invocations in flight have finished or ctx ends. An error
// means that invocations were interrupted.
func (s *Scheduler) Close(ctx context.Context) error {
	s.start.Do(func() {}) // waits for Start, and lets a later Start have no effect
	s.stop()
	defer s.cancelWorking()
	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		s.cancelWorking()
		<-ended
		return fmt.Errorf("schedule: invocations in flight were interrupted: %w", context.Cause(ctx))
	}
}

// now returns the wall time: the monotonic clock stands still while the machine sleeps.
func (s *Scheduler) now() time.Time { return s.options.Now().Round(0) }

// run fires until the schedule has no more times or the scheduler stops.
func (s *schedule) run(enabled time.Time) {
	after := enabled
	if s.when.Rate() {
		s.when = s.when.From(enabled)
		after = enabled.Add(-1) // a rate fires immediately
	}
	for {
		due, more := s.when.Next(after)
		if !more || !s.wait(due) {
			return
		}
		s.fire(due)
		after = due
		if now := s.now(); now.After(due) {
			after = now // times that were missed while the machine slept are skipped
		}
	}
}

// wait returns true when the clock has reached a time, or false if the scheduler stops first.
func (s *Scheduler) wait(until time.Time) bool {
	for {
		left := until.Sub(s.now())
		if left <= 0 {
			return s.stopping.Err() == nil
		}
		timer := time.NewTimer(min(left, readClock))
		select {
		case <-timer.C:
		case <-s.stopping.Done():
			timer.Stop()
			return false
		}
	}
}
