// Package schedule invokes functions at the times of schedules, as EventBridge Scheduler does (SAM's event type
// ScheduleV2).
//
// It contains when a schedule fires, and the event. It must not know how functions run (package runtime), templates
// (package stack), or the application.
//
// The start of the platform enables the schedules: each fires immediately, and then at its rate. Schedules do not wait
// for one another, and a schedule does not wait for its last invocation. Times at which the platform did not run are
// skipped. After the machine has slept, a schedule fires once, however many times it has missed. An event is delivered
// once: if the function fails or all of its instances are busy, the event is dropped and logged.
package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
)

// readClock is the longest time between two reads of the clock, because timers stop while a machine sleeps, and the
// clock may be adjusted.
const readClock = time.Minute

// Options configure a Scheduler. All are required.
type Options struct {
	// Schedules are the schedules. Schedules that are not Enabled have no effect.
	Schedules []resources.Schedule
	// Invoke runs a function once, as [runtime.Runtime.Invoke] does.
	Invoke func(ctx context.Context, in runtime.Invocation) (*runtime.Response, error)
	// Region and Account are the region and the account in events.
	Region, Account string
	// Now is the clock. It may jump: it is read at least once a minute.
	Now    func() time.Time
	Logger *slog.Logger
}

// Scheduler runs schedules.
type Scheduler struct {
	options Options
	running sync.WaitGroup
	// stopping ends when schedules may no longer fire. working ends when invocations in flight are canceled.
	stopping, working   context.Context
	stop, cancelWorking context.CancelFunc
}

// Open returns a Scheduler that has not started.
func Open(options Options) *Scheduler {
	s := &Scheduler{options: options}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.working, s.cancelWorking = context.WithCancel(context.Background())
	return s
}

// Start enables the schedules. It must be called at most once, and before Close.
func (s *Scheduler) Start() {
	enabled := s.now()
	for _, spec := range s.options.Schedules {
		if spec.Enabled {
			s.running.Go(func() { s.run(spec, enabled) })
		}
	}
}

// Close stops the schedules, and waits until invocations in flight have finished or ctx ends. An error means that
// invocations were interrupted.
func (s *Scheduler) Close(ctx context.Context) error {
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

// run fires until the scheduler stops. Times that were missed while the machine slept are skipped.
func (s *Scheduler) run(spec resources.Schedule, due time.Time) {
	for s.wait(due) {
		at := due
		s.running.Go(func() { s.deliver(spec, at) })
		due = due.Add(s.now().Sub(due).Truncate(spec.Every) + spec.Every)
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

// deliver invokes the function of a schedule once.
func (s *Scheduler) deliver(spec resources.Schedule, due time.Time) {
	in := runtime.Invocation{Function: spec.Function, RequestID: uuid.NewString(), Payload: s.payload(spec, due)}
	response, err := s.options.Invoke(s.working, in)
	if err == nil {
		_ = response.Body.Close() // a buffer
		if response.FunctionError == nil {
			return
		}
		err = response.FunctionError
	}
	s.options.Logger.Error("a scheduled event was dropped", "schedule", spec.Name, "function", spec.Function,
		"requestId", in.RequestID, "error", err)
}

// payload returns the schedule's Input, or the event of a schedule without one:
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-run-lambda-schedule.html.
func (s *Scheduler) payload(spec resources.Schedule, due time.Time) []byte {
	if spec.Input != "" {
		return []byte(spec.Input)
	}
	event, _ := json.Marshal(struct { // strings can always be encoded
		Version    string   `json:"version"`
		ID         string   `json:"id"`
		DetailType string   `json:"detail-type"`
		Source     string   `json:"source"`
		Account    string   `json:"account"`
		Time       string   `json:"time"`
		Region     string   `json:"region"`
		Resources  []string `json:"resources"`
		Detail     string   `json:"detail"`
	}{
		"0", uuid.NewString(), "Scheduled Event", "aws.scheduler", s.options.Account,
		due.UTC().Format("2006-01-02T15:04:05Z"), s.options.Region, []string{spec.ARN}, "{}",
	})
	return event
}
