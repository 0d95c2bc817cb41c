package engine

import (
	"runtime"
	"sync/atomic"
	"time"
)

// stopwatch measures the processor time that an engine uses, so that the limit does not depend on what else the machine
// does.
type stopwatch struct {
	limit   time.Duration
	depth   int                 // the number of starts that were not stopped: a program can load another program
	running atomic.Pointer[lap] // nil if no program runs
	used    atomic.Int64        // before the lap, in nanoseconds
}

// lap is the time in which a program runs on a thread.
type lap struct {
	thread    int
	startTime time.Duration
}

// start starts the stopwatch, and returns the function that stops it. Until then, the goroutine stays on its thread,
// because the time is measured for each thread. If the stopwatch already runs, start and stop only count the depth.
func (s *stopwatch) start() (stop func()) {
	s.depth++
	if s.depth > 1 {
		return func() { s.depth-- }
	}
	runtime.LockOSThread()
	l := &lap{thread: threadID()}
	l.startTime = threadTime(l.thread)
	s.running.Store(l)
	return func() {
		s.depth--
		s.running.Store(nil) // first, so that a concurrent call of time never counts the lap twice
		s.used.Add(int64(threadTime(l.thread) - l.startTime))
		runtime.UnlockOSThread()
	}
}

// isExpired reports whether the time is used up. It can be called by any goroutine.
func (s *stopwatch) isExpired() bool { return s.time() > s.limit }

// time returns the time that was used. It can be called by any goroutine.
func (s *stopwatch) time() time.Duration {
	used := time.Duration(s.used.Load())
	if l := s.running.Load(); l != nil {
		used += threadTime(l.thread) - l.startTime
	}
	return used
}
