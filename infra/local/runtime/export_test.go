package runtime

// Queued counts the requests that wait for an instance.
func (r *Runtime) Queued(function string) int {
	p := r.pools[function]
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.Len()
}

// Starts counts the processes started, or tried.
func (r *Runtime) Starts() int { return int(r.starter.count.Load()) }

// HoldStarts keeps new processes from starting until the function returned is called.
func (r *Runtime) HoldStarts() (release func()) {
	entered, done := make(chan struct{}), make(chan struct{})
	r.starter.work <- func() {
		close(entered)
		<-done
	}
	<-entered
	return func() { close(done) }
}
