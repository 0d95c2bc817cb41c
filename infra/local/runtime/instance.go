package runtime

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// stopGrace is the time between SIGTERM and SIGKILL; it is Lambda's.
const stopGrace = 500 * time.Millisecond

// phase is a runtime's place in the Runtime API's protocol, by the names that AWS's errors use.
type phase string

const (
	phaseStarted   phase = "Started"
	phaseInitError phase = "InitError"
	phaseReady     phase = "Ready"
	phaseRunning   phase = "Running"
	phaseResponse  phase = "InvocationResponse"
	phaseError     phase = "InvocationErrorResponse"
	phaseSent      phase = "ResponseSent"
)

// instance is an execution environment: one process, the listener of its Runtime API, and the call
// that it holds.
type instance struct {
	pool    *pool
	work    chan *call // what the pool assigned and /next has not taken
	gone    chan struct{}
	started time.Time
	address string
	cmd     *exec.Cmd
	pid     atomic.Int64
	output  []*output
	logging atomic.Pointer[call] // whose log the output is
	early   tail                 // the log until the first call
	version int                  // of the binary: see pool.version

	// The pool's, under its lock.
	state       State
	init        time.Duration
	idleSince   time.Time
	invocations int

	mu          sync.Mutex
	phase       phase
	polling     bool // a /next is waiting
	current     *call
	timer       *time.Timer // of current, or of the start
	dead        bool
	connections int
	quiet       chan struct{} // closed and nil when a dead process has nothing left to say
	told        bool          // to end
	late        bool          // killed for its request's time-out
	lateInit    bool          // killed for not being ready in time
	startErr    error
	initErr     *FunctionError
}

func newInstance(p *pool) *instance {
	return &instance{
		pool: p, work: make(chan *call, 1), gone: make(chan struct{}), started: p.rt.now(),
		version: p.version, state: Starting, phase: phaseStarted, quiet: make(chan struct{}),
	}
}

// run is the life of an instance.
func (i *instance) run() {
	server, err := i.start()
	if err == nil {
		_ = i.cmd.Wait() // how it ended is in ProcessState
	}
	i.mu.Lock()
	i.dead, i.startErr = true, err
	i.checkQuiet()
	i.mu.Unlock()
	i.awaitQuiet()
	i.mu.Lock()
	current, answering := i.current, i.answering()
	if i.timer != nil && !answering {
		i.timer.Stop()
	}
	crashed := !i.late && !i.told
	i.mu.Unlock()
	for _, o := range i.output {
		o.close()
	}
	close(i.gone)
	failed := i.pool.gone(i, crashed)
	i.warn(current)
	for _, c := range failed {
		c.inherit(i)
		c.fail(i.cause(c.RequestID))
		i.conclude(c)
	}
	if current != nil && !answering { // while it answers, the handler reads what is left first
		current.fail(i.cause(current.RequestID))
		i.conclude(current)
	}
	i.pool.rt.children.Done()
	if server != nil {
		_ = server.Shutdown(context.Background()) // waits for the handlers, whose peer is dead
	}
}

// begin watches a process that has just started.
func (i *instance) begin() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.pid.Store(int64(i.cmd.Process.Pid))
	if i.told {
		i.kill(syscall.SIGKILL)
		return
	}
	i.timer = time.AfterFunc(i.pool.rt.opts.InitTimeout, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.phase == phaseStarted || i.phase == phaseInitError {
			i.lateInit = true
			i.kill(syscall.SIGKILL)
		}
	})
}

// connection counts the process's connections.
func (i *instance) connection(_ net.Conn, state http.ConnState) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch state {
	case http.StateNew:
		i.connections++
	case http.StateClosed, http.StateHijacked:
		i.connections--
		i.checkQuiet()
	case http.StateActive, http.StateIdle:
	}
}

// checkQuiet tells awaitQuiet that all that the dead process had sent was read, or is being read, or
// doesn't matter. The caller holds mu.
func (i *instance) checkQuiet() {
	matters := i.phase == phaseStarted || i.phase == phaseRunning
	if i.dead && i.quiet != nil && (i.connections == 0 || !matters) {
		close(i.quiet)
		i.quiet = nil
	}
}

// awaitQuiet waits for it: a process's end is often known before its last words have been read.
func (i *instance) awaitQuiet() {
	i.mu.Lock()
	quiet := i.quiet
	i.mu.Unlock()
	if quiet == nil {
		return
	}
	timer := time.NewTimer(brokenGrace)
	defer timer.Stop()
	select {
	case <-quiet:
	case <-timer.C: // something that the process has started holds its connections
	}
}

// answering tells that a handler reads the function's answer. The caller holds mu.
func (i *instance) answering() bool { return i.phase == phaseResponse || i.phase == phaseError }

// stop ends the process: first politely, soon for good.
func (i *instance) stop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.told = true
	i.kill(syscall.SIGTERM)
	time.AfterFunc(stopGrace, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.kill(syscall.SIGKILL)
	})
}

// kill signals the process and what it started. The caller holds mu.
func (i *instance) kill(signal syscall.Signal) {
	if pid := int(i.pid.Load()); pid != 0 && !i.dead {
		_ = syscall.Kill(-pid, signal) // it may have ended just now
	}
}

// hold gives the call to the function's waiting /next: from here its time runs. False means that
// the process has ended, and the call is untouched.
func (i *instance) hold(c *call) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.dead {
		return false
	}
	i.phase, i.current, i.polling = phaseRunning, c, false
	c.delivered = i.pool.rt.now()
	c.inherit(i)
	i.logging.Store(c)
	i.timer = time.AfterFunc(i.pool.function.Timeout, func() { i.expire(c) })
	return true
}

// expire ends an invocation that took too long, and its process with it.
func (i *instance) expire(c *call) {
	i.mu.Lock()
	if i.current != c {
		i.mu.Unlock()
		return
	}
	i.late = true
	i.kill(syscall.SIGKILL)
	i.mu.Unlock()
	c.fail(failure(kindTimeout, c.RequestID, timeoutMessage(i.pool.function.Timeout)))
}

// free ends the invocation that was answered: the function asks for the next one. An error names
// the state in which that is not allowed.
func (i *instance) free() error {
	for _, o := range i.output {
		o.drain() // what it has written until now is that invocation's log
	}
	i.mu.Lock()
	if i.polling || (i.phase != phaseStarted && i.phase != phaseSent && i.phase != phaseReady) {
		defer i.mu.Unlock()
		return &transitionError{from: i.phase, to: phaseReady}
	}
	c, waiting := i.current, i.phase == phaseReady
	i.phase, i.current, i.polling = phaseReady, nil, true
	if i.timer != nil {
		i.timer.Stop()
		i.timer = nil
	}
	i.logging.Store(nil)
	i.mu.Unlock()
	if c != nil {
		i.conclude(c)
	}
	if !waiting {
		i.pool.ready(i)
	}
	return nil
}

// lost notes that a waiting /next was given up. The process may ask again; one that doesn't must not
// keep what the pool assigns to it, and is ended.
func (i *instance) lost() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.polling = false
	if i.dead {
		return
	}
	i.timer = time.AfterFunc(i.pool.rt.opts.InitTimeout, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.phase == phaseReady && !i.polling {
			i.kill(syscall.SIGKILL)
		}
	})
}

// take claims the call for its one answer; nil when the id is not that of the call held, or it has
// been answered.
func (i *instance) take(id string, to phase) *call {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.phase != phaseRunning || i.current.RequestID != id {
		return nil
	}
	i.phase = to
	i.checkQuiet()
	return i.current
}

// sent ends the answering. When the process has ended meanwhile, so has the invocation.
func (i *instance) sent(c *call) {
	i.mu.Lock()
	i.phase = phaseSent
	dead := i.dead
	if dead && i.timer != nil {
		i.timer.Stop()
	}
	i.mu.Unlock()
	if dead {
		<-i.gone
		i.conclude(c)
	}
}

// cause is why a request of this instance failed when the process ended.
func (i *instance) cause(requestID string) *FunctionError {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.startErr == nil && i.initErr != nil {
		return i.initErr
	}
	kind, reason := i.reason()
	return failure(kind, requestID, reason)
}

// reason tells how the process ended, in Lambda's words. The caller holds mu.
func (i *instance) reason() (kind, message string) {
	switch {
	case errors.Is(i.startErr, fs.ErrNotExist):
		return "Runtime.InvalidEntrypoint", "Couldn't find valid bootstrap(s): [" + i.pool.function.Bootstrap + "]"
	case i.startErr != nil:
		return "Runtime.InvalidEntrypoint", i.startErr.Error()
	case i.lateInit:
		return kindTimeout, timeoutMessage(i.pool.rt.opts.InitTimeout)
	case i.late:
		return kindTimeout, timeoutMessage(i.pool.function.Timeout)
	case i.cmd.ProcessState.Success():
		return "Runtime.ExitError", "Runtime exited without providing a reason"
	}
	return "Runtime.ExitError", "Runtime exited with error: " + i.cmd.ProcessState.String()
}

// warn logs an end that nobody asked for.
func (i *instance) warn(current *call) {
	i.mu.Lock()
	told := i.told
	_, reason := i.reason()
	i.mu.Unlock()
	if told {
		return
	}
	id := ""
	if current != nil {
		id = current.RequestID
	}
	i.pool.rt.opts.Logger.LogAttrs(context.Background(), slog.LevelWarn, reason,
		slog.String("function", i.pool.function.Name), slog.String("requestId", id))
}

// giveUp ends a process that has reported that it can't start, unless it does so itself.
func (i *instance) giveUp() {
	time.AfterFunc(stopGrace, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.kill(syscall.SIGKILL)
	})
}
