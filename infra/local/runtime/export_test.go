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

// Polling counts the instances whose /next waits.
func (r *Runtime) Polling(function string) (n int) {
	p := r.pools[function]
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.all {
		i.mu.Lock()
		if i.polling {
			n++
		}
		i.mu.Unlock()
	}
	return n
}
