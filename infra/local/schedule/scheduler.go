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
	_ "time/tzdata" // the zones of a template are known on every machine

	"devplatform/infra/local/awshttp"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/schedule/expression"
	"devplatform/infra/local/stack"
)

// Options say what is invoked, when, and where the events go that nobody took. Zero values mean what the comments say.
type Options struct {
	// Schedules are the schedules to run; those that aren't Enabled are checked and left alone.
	Schedules []stack.Schedule
	// Invoke runs a function once, as [runtime.Runtime.Invoke] does (required).
	Invoke func(ctx context.Context, in runtime.Invocation) (*runtime.Response, error)
	// Endpoint is the URL of SQS, for the dead-letter queues; "" is AWS.
	Endpoint string
	// Region is the endpoint's (default us-east-1), Account the one in events and ARNs (default 000000000000).
	Region, Account string
	// AccessKeyID, SecretKey and SessionToken sign the requests. Embedded services take any; empty ones are "local".
	AccessKeyID, SecretKey, SessionToken string
	// Now is the clock (required). It may jump: it is looked at once a minute at least.
	Now func() time.Time
	// Logger takes what goes wrong; nil discards it.
	Logger *slog.Logger
	// Random is a moment in a span of time, from 0 and below its end, for flexible windows and back-off; nil is a random one.
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

	// stopping ends when nothing more may fire or be waited for, working when invocations under way are given up.
	stopping, working context.Context
	stop, giveUp      context.CancelFunc
}

// schedule is one of them, enabled.
type schedule struct {
	*Scheduler
	spec   stack.Schedule
	when   expression.Expression
	logger *slog.Logger
	// places are the events that may be under way: each takes one, and gives it back when it is done with.
	places chan struct{}
}

// maxUnderWay bounds the events of one schedule that run or wait for a retry: those of an hour, where a function that always
// hangs for its fifteen minutes is invoked every minute.
const maxUnderWay = 64

// Open checks every schedule, the disabled ones too: names, expressions, time zones. It starts nothing.
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
			err = errors.New("stands twice")
		}
		if err != nil {
			return nil, fmt.Errorf("schedule %s: %w", spec.Name, err)
		}
		names[spec.ARN] = true
		if spec.Enabled {
			logger := options.Logger.With("schedule", spec.Name, "function", spec.Function)
			s.schedules = append(s.schedules, &schedule{
				Scheduler: s, spec: spec, when: when, logger: logger, places: make(chan struct{}, maxUnderWay),
			})
		}
	}
	return s, nil
}

func parse(spec stack.Schedule) (expression.Expression, error) {
	dialect := expression.Scheduler
	if spec.Rule {
		dialect = expression.Rule
	}
	zone, err := expression.Zone(spec.Timezone)
	if err != nil {
		return expression.Expression{}, err
	}
	return expression.Parse(spec.Expression, dialect, zone)
}

// Start enables the schedules: rates count from now.
func (s *Scheduler) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started || s.closed {
		return
	}
	s.started = true
	enabled := s.options.Now().Round(0)
	for _, schedule := range s.schedules {
		s.running.Go(func() { schedule.run(enabled) })
	}
}

// Close fires no more and gives up what waits for a retry; invocations under way may finish until ctx ends. The error says that
// some were cut.
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
		return fmt.Errorf("schedule: invocations under way were cut: %w", context.Cause(ctx))
	}
}

// run fires until there is no next time or the scheduler stops.
func (s *schedule) run(enabled time.Time) {
	when, due, more := s.begin(enabled)
	for more && s.wait(due) {
		s.fire(due)
		// What was missed in between, because the machine slept, is not made up.
		due, more = s.bounded(when.Next(latest(due, s.options.Now().Round(0))))
	}
}

// begin is the first time at which it fires. An expression that tells one time fires at it whatever the bounds: AWS ignores them.
func (s *schedule) begin(enabled time.Time) (expression.Expression, time.Time, bool) {
	if !s.when.Rate() {
		from := enabled
		if !s.when.Once() && s.spec.Start.After(enabled) {
			from = s.spec.Start.Add(-1) // its own moment counts
		}
		due, more := s.bounded(s.when.Next(from))
		return s.when, due, more
	}
	first := enabled
	switch {
	case !s.spec.Start.IsZero():
		first = s.spec.Start
	case s.spec.Rule:
		first, _ = s.when.Next(enabled)
	}
	when := s.when.From(first)
	due, more := s.bounded(when.Next(enabled.Add(-1)))
	return when, due, more
}

// bounded ends a schedule at its End.
func (s *schedule) bounded(due time.Time, more bool) (time.Time, bool) {
	if !s.spec.End.IsZero() && !s.when.Once() && !due.Before(s.spec.End) {
		more = false
	}
	return due, more
}

// lookAgain bounds the wait for a time: timers stand still while a machine sleeps, and clocks are put right.
const lookAgain = time.Minute

// wait returns when the clock shows a time; false when the scheduler stops first.
func (s *Scheduler) wait(until time.Time) bool {
	for {
		left := until.Sub(s.options.Now().Round(0))
		if left <= 0 {
			return s.stopping.Err() == nil
		}
		timer := time.NewTimer(min(left, lookAgain))
		select {
		case <-timer.C:
		case <-s.stopping.Done():
			timer.Stop()
			return false
		}
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
