package runtime

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

const (
	// stopGrace is the time between SIGTERM and SIGKILL, as on Lambda.
	stopGrace = 500 * time.Millisecond
	// closeGrace is how long the connections of a process may stay open after its end, and how long a process may live
	// after it has broken off a response.
	closeGrace = time.Second
)

// state is the state of an instance. Its calls of the Runtime API, the pool and the end of its process change it.
type state string

const (
	starting   state = "starting"    // the process has not called /next yet
	initFailed state = "init failed" // the process has reported that it can't start
	idle       state = "idle"        // /next waits for a call
	assigned   state = "assigned"    // there is a call, which /next has not taken yet
	running    state = "running"     // the function has the call
	responding state = "responding"  // a response or an error is being read
	responded  state = "responded"   // the response was read; the next step is /next
	stopping   state = "stopping"    // the instance has no call and no longer gets one
	ended      state = "ended"       // the process has ended
)

// transitions are the allowed changes of state.
var transitions = map[state][]state{
	starting:   {idle, initFailed, stopping, ended},
	initFailed: {stopping, ended},
	idle:       {assigned, stopping, ended},
	assigned:   {running, ended},
	running:    {responding, ended},
	responding: {responded, ended},
	responded:  {idle, ended},
	stopping:   {ended},
}

// endReason is the reason why a process ended.
type endReason int

const (
	byItself endReason = iota
	stopped
	timedOut     // its call took too long
	initTimedOut // it did not start in time
)

// instance is an execution environment: a process, the server of its Runtime API, and the call that it has.
type instance struct {
	pool    *pool
	version int // of the binary: see pool.version
	started time.Time
	address string
	cmd     *exec.Cmd
	output  *lineWriter
	work    chan *call    // the assigned call, for /next
	exited  chan struct{} // closed after the process has ended

	// The following are guarded by the pool's mu.
	state       state
	end         endReason
	call        *call // from assigned to responded
	idleSince   time.Time
	timer       *time.Timer // limits the start or the call
	pid         int         // 0 unless the process is running
	connections int
	startErr    error
	initErr     *FunctionError

	disconnected chan struct{} // receives when a connection has closed
}

func newInstance(p *pool) *instance {
	return &instance{
		pool: p, version: p.version, started: p.rt.opts.Now(), state: starting,
		output: &lineWriter{emit: func(line string) { p.rt.opts.Lines(p.function.Name, line) }},
		work:   make(chan *call, 1), exited: make(chan struct{}), disconnected: make(chan struct{}, 1),
	}
}

// move is the only function that changes the state. It returns false if the change is not allowed. The caller holds mu.
func (i *instance) move(to state) bool {
	if !slices.Contains(transitions[i.state], to) {
		return false
	}
	if i.isStarting() {
		i.pool.starting--
	}
	i.state = to
	if i.isStarting() {
		i.pool.starting++
	}
	return true
}

func (i *instance) isStarting() bool { return i.state == starting || i.state == initFailed }

// run starts the process and waits for its end.
func (i *instance) run() {
	server, err := i.start()
	if err == nil {
		_ = i.cmd.Wait() // how it ended is in ProcessState
		i.output.close()
	}
	i.pool.mu.Lock()
	i.pid, i.startErr = 0, err
	i.pool.mu.Unlock()
	close(i.exited)
	i.awaitConnections()
	failed := i.pool.removeEnded(i)
	i.logEnd()
	for _, c := range failed {
		c.fail(i.failure(c.RequestID))
	}
	if server != nil {
		_ = server.Close() // handlers that still read a response fail their call
	}
	i.pool.rt.children.Done()
}

// countConnection counts the connections of the process.
func (i *instance) countConnection(_ net.Conn, s http.ConnState) {
	change := -1
	switch s {
	case http.StateNew:
		change = 1
	case http.StateClosed, http.StateHijacked:
	case http.StateActive, http.StateIdle:
		return
	}
	i.pool.mu.Lock()
	i.connections += change
	i.pool.mu.Unlock()
	select {
	case i.disconnected <- struct{}{}:
	default:
	}
}

// awaitConnections waits until everything that the process has sent was read: the end of the process is often known
// before its last error or response was read. It does not wait in a state in which the process sends neither. A child
// of the process may keep the connections open, so the wait is limited.
func (i *instance) awaitConnections() {
	timeout := time.NewTimer(closeGrace)
	defer timeout.Stop()
	for {
		i.pool.mu.Lock()
		done := i.connections == 0 || !slices.Contains([]state{starting, running, responding}, i.state)
		i.pool.mu.Unlock()
		if done {
			return
		}
		select {
		case <-i.disconnected:
		case <-timeout.C:
			return
		}
	}
}

// limitStart limits the time of the start.
func (i *instance) limitStart() {
	i.pool.mu.Lock()
	defer i.pool.mu.Unlock()
	i.pid = i.cmd.Process.Pid
	if i.end == stopped {
		i.kill(syscall.SIGKILL)
		return
	}
	i.timer = time.AfterFunc(i.pool.rt.opts.InitTimeout, func() {
		i.pool.mu.Lock()
		defer i.pool.mu.Unlock()
		if i.isStarting() {
			i.end = initTimedOut
			i.kill(syscall.SIGKILL)
		}
	})
}

// retire stops an instance that has no call. The caller holds mu.
func (i *instance) retire() {
	if i.move(stopping) {
		i.stop()
	}
}

// stop ends the process with SIGTERM, and after stopGrace with SIGKILL. The caller holds mu.
func (i *instance) stop() {
	if i.end == byItself {
		i.end = stopped
	}
	i.kill(syscall.SIGTERM)
	time.AfterFunc(stopGrace, i.abort)
}

// abort ends the process with SIGKILL.
func (i *instance) abort() {
	i.pool.mu.Lock()
	defer i.pool.mu.Unlock()
	i.kill(syscall.SIGKILL)
}

// kill signals the process and its children. The caller holds mu.
func (i *instance) kill(signal syscall.Signal) {
	if i.pid != 0 {
		_ = syscall.Kill(-i.pid, signal) // it may have ended just now
	}
}

// assign assigns a call to an idle instance. The caller holds mu.
func (i *instance) assign(c *call) {
	i.move(assigned)
	i.call = c
	i.work <- c // never blocks: an idle instance has no call
}

// poll begins a request to /next, which ends the previous call. It returns false and the current state if the request
// is not allowed.
func (i *instance) poll() (state, bool) {
	p := i.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	from := i.state
	if from == stopping {
		return from, true // the process is about to be killed
	}
	if !i.move(idle) {
		return from, false
	}
	if from == starting {
		p.grown = p.rt.opts.Now()
	} else {
		p.failures = 0
	}
	i.timer.Stop()
	i.call = nil
	p.assignNext(i)
	return idle, true
}

// take passes the assigned call to /next, and starts its time limit. It returns false if the process has ended: then
// the call is in the queue again.
func (i *instance) take(c *call) (deadline time.Time, ok bool) {
	i.pool.mu.Lock()
	defer i.pool.mu.Unlock()
	if !i.move(running) {
		return deadline, false
	}
	timeout := i.pool.function.Timeout
	i.timer = time.AfterFunc(timeout, func() { i.expire(c) })
	return i.pool.rt.opts.Now().Add(timeout), true
}

// expire ends a call that took too long, and its process.
func (i *instance) expire(c *call) {
	i.pool.mu.Lock()
	if i.call != c {
		i.pool.mu.Unlock()
		return
	}
	i.end = timedOut
	i.kill(syscall.SIGKILL)
	i.pool.mu.Unlock()
	c.fail(timeoutError(c.RequestID, i.pool.function.Timeout))
}

// claim returns the call with this id for its one response. It returns nil if the function does not have this call, or
// has already responded to it.
func (i *instance) claim(id string) *call {
	i.pool.mu.Lock()
	defer i.pool.mu.Unlock()
	if i.state != running || i.call.RequestID != id {
		return nil
	}
	i.move(responding)
	return i.call
}

// endResponse ends a response.
func (i *instance) endResponse() {
	i.pool.mu.Lock()
	defer i.pool.mu.Unlock()
	i.move(responded)
}

// failure returns the error for a call whose process has ended, in Lambda's words.
func (i *instance) failure(requestID string) *FunctionError {
	i.pool.mu.Lock()
	defer i.pool.mu.Unlock()
	opts := &i.pool.rt.opts
	switch {
	case errors.Is(i.startErr, fs.ErrNotExist):
		message := "Couldn't find valid bootstrap(s): [" + i.pool.function.Bootstrap + "]"
		return newFunctionError("Runtime.InvalidEntrypoint", requestID, message)
	case i.startErr != nil:
		return newFunctionError("Runtime.InvalidEntrypoint", requestID, i.startErr.Error())
	case i.initErr != nil:
		return i.initErr
	case i.end == initTimedOut:
		return timeoutError(requestID, opts.InitTimeout)
	case i.end == timedOut:
		return timeoutError(requestID, i.pool.function.Timeout)
	case i.cmd.ProcessState.Success():
		return newFunctionError("Runtime.ExitError", requestID, "Runtime exited without providing a reason")
	}
	return newFunctionError("Runtime.ExitError", requestID, "Runtime exited with error: "+i.cmd.ProcessState.String())
}

// logEnd logs an unexpected end, except of a binary that was replaced or is only checked.
func (i *instance) logEnd() {
	i.pool.mu.Lock()
	expected, id := i.end == stopped || i.version != i.pool.version, ""
	if i.call != nil {
		id = i.call.RequestID
	}
	i.pool.mu.Unlock()
	if !expected {
		i.pool.rt.opts.Logger.LogAttrs(context.Background(), slog.LevelWarn, i.failure("").Message,
			slog.String("function", i.pool.function.Name), slog.String("requestId", id))
	}
}
