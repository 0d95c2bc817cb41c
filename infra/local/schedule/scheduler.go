package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
	_ "time/tzdata" // the time zones of a template are known on every machine

	"devplatform/infra/local/awshttp"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/schedule/expression"
	"devplatform/infra/local/stack"
)

// Options configure a Scheduler.
type Options struct {
	// Schedules are the schedules. Those that are not Enabled are checked only.
	Schedules []stack.Schedule
	// Invoke runs a function once, as [runtime.Runtime.Invoke] does (required).
	Invoke func(ctx context.Context, in runtime.Invocation) (*runtime.Response, error)
	// Endpoint is the URL of SQS, for the dead-letter queues. "" is AWS.
	Endpoint string
	// Region is the endpoint's (default us-east-1), Account is the one in events and ARNs (default 000000000000).
	Region, Account string
	// AccessKeyID, SecretKey and SessionToken sign the requests. Embedded services accept any, by default "local".
	AccessKeyID, SecretKey, SessionToken string
	// Now is the clock (required). It may jump: it is read at least once a minute.
	Now func() time.Time
	// Logger is for problems. Nil discards them.
	Logger *slog.Logger
	// Random returns a duration from 0 to below span, for flexible windows and backoff. The default is random.
	Random func(span time.Duration) time.Duration
}

// Scheduler runs schedules.
type Scheduler struct {
	options   Options
	http      *http.Client
	queues    queueAPI
	schedules []*schedule

	mu              sync.Mutex
	started, closed bool
	running         sync.WaitGroup

	// stopping ends when no schedule may fire or retry any more, working when invocations in flight are given up.
	stopping, working context.Context
	stop, giveUp      context.CancelFunc
}

// schedule is an enabled schedule.
type schedule struct {
	*Scheduler
	spec     stack.Schedule
	when     expression.Expression
	logger   *slog.Logger
	inFlight chan struct{} // holds an element for each event in flight
}

// maxInFlight limits the events of a schedule that run or wait for a retry: those of an hour, if a function that always runs
// into its time limit of 15 minutes is invoked every minute.
const maxInFlight = 64

// Open checks the schedules, including those that are disabled. It does not start them. The error names the schedule that
// is not valid.
func Open(options Options) (*Scheduler, error) {
	if options.Invoke == nil || options.Now == nil {
		return nil, errors.New("schedule: Options.Invoke and Now are required")
	}
	options.Region = cmp.Or(options.Region, "us-east-1")
	options.Account = cmp.Or(options.Account, "000000000000")
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	if options.AccessKeyID == "" {
		options.AccessKeyID, options.SecretKey = "local", "local"
	}
	if options.Random == nil {
		options.Random = rand.N[time.Duration]
	}
	s := &Scheduler{options: options, http: awshttp.New()}
	s.queues = newQueueClient(options, s.http)
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.working, s.giveUp = context.WithCancel(context.Background())
	names := map[string]bool{}
	for _, spec := range options.Schedules {
		when, err := parse(spec)
		if names[spec.ARN] {
			err = errors.New("it is configured twice")
		}
		if err != nil {
			return nil, fmt.Errorf("schedule %s: %w", spec.Name, err)
		}
		names[spec.ARN] = true
		if spec.Enabled {
			logger := options.Logger.With("schedule", spec.Name, "function", spec.Function)
			s.schedules = append(s.schedules, &schedule{
				Scheduler: s, spec: spec, when: when, logger: logger, inFlight: make(chan struct{}, maxInFlight),
			})
		}
	}
	return s, nil
}

func parse(spec stack.Schedule) (expression.Expression, error) {
	zone, err := expression.Zone(spec.Timezone)
	if err != nil {
		return expression.Expression{}, err
	}
	return expression.Parse(spec.Expression, zone)
}

// Start enables the schedules.
func (s *Scheduler) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started || s.closed {
		return
	}
	s.started = true
	enabled := s.now()
	for _, schedule := range s.schedules {
		s.running.Go(func() { schedule.run(enabled) })
	}
}

// Close stops the schedules, gives up events that wait for a retry, and waits until invocations in flight have finished or
// ctx ends. The error says that invocations were interrupted.
func (s *Scheduler) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	defer s.http.CloseIdleConnections()
	s.stop()
	defer s.giveUp()
	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		s.giveUp()
		<-ended
		return fmt.Errorf("schedule: invocations in flight were interrupted: %w", context.Cause(ctx))
	}
}

// now returns the wall time: the monotonic clock stands still while the machine sleeps.
func (s *Scheduler) now() time.Time { return s.options.Now().Round(0) }

// run fires until the schedule ends or the scheduler stops.
func (s *schedule) run(enabled time.Time) {
	after := enabled
	switch {
	case s.when.Rate():
		s.when = s.when.From(enabled)
		if !s.spec.Start.IsZero() {
			s.when = s.when.From(s.spec.Start)
		}
		after = enabled.Add(-1) // the start itself counts
	case s.spec.Start.After(enabled):
		after = s.spec.Start.Add(-1)
	}
	for {
		due, more := s.when.Next(after)
		over := !s.spec.End.IsZero() && !due.Before(s.spec.End)
		if !more || over || !s.wait(due) {
			return
		}
		s.fire(due)
		after = due
		if now := s.now(); now.After(due) {
			after = now // times that were missed while the machine slept are skipped
		}
	}
}

// readClock is the longest time between two reads of the clock, because timers stop while a machine sleeps, and the clock
// may be adjusted.
const readClock = time.Minute

// wait returns when the clock shows a time. It returns false if the scheduler stops before.
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
