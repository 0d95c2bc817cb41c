package runtime

import "slices"

// Queued returns the number of calls in a function's queue.
func (r *Runtime) Queued(function string) int {
	p := r.pools[function]
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.Len()
}

// Starts returns the number of attempts to start a process.
func (r *Runtime) Starts() int { return int(r.starter.count.Load()) }

// HoldStarts keeps new processes from starting until release is called.
func (r *Runtime) HoldStarts() (release func()) {
	entered, done := make(chan struct{}), make(chan struct{})
	r.starter.work <- func() {
		close(entered)
		<-done
	}
	<-entered
	return func() { close(done) }
}

// Instance describes an instance. It is busy if it has a call.
type Instance struct {
	PID        int
	Idle, Busy bool
}

// Snapshot returns the instances of all functions, sorted by PID.
func (r *Runtime) Snapshot() (list []Instance) {
	for _, p := range r.pools {
		p.mu.Lock()
		for i := range p.all {
			busy := []state{assigned, running, responding, responded}
			list = append(list, Instance{PID: i.pid, Idle: i.state == idle, Busy: slices.Contains(busy, i.state)})
		}
		p.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b Instance) int { return a.PID - b.PID })
	return list
}
