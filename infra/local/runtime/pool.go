package runtime

import (
	"container/list"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	"devplatform/infra/local/processors"
)

// Backoff of starts. A failure is a process that ended by itself or did not start in time. A process that outlives a
// call resets the count. After stormAfter failures in a row, one process is started at a time, after an increasing
// pause, so that a function that always crashes uses little CPU time.
const (
	stormAfter = 3
	firstPause = 20 * time.Millisecond
	maxPause   = time.Second
)

// busyPatience is how long a call waits for a busy instance while the processors are busy. See pool.grow.
const busyPatience = time.Second

// pool is the queue and the instances of a function. A call goes to the most recently used idle instance. If there is
// none, it waits in the queue for the first instance that becomes idle or has started.
type pool struct {
	rt       *Runtime
	function Function
	arn      string
	env      func() []string // computes the variables at the first start

	mu       sync.Mutex
	queue    list.List   // of *call
	idle     []*instance // in state idle, the least recently used first
	all      map[*instance]struct{}
	starting int       // instances in the states starting and initFailed
	failures int       // in a row
	failed   time.Time // of the last failure
	grown    time.Time // when the last instance was ready
	growing  bool      // a timer calls grow
	version  int       // of the binary: the number of replacements
	closed   bool
}

// enqueue assigns the call to an idle instance, or adds it to the queue.
func (p *pool) enqueue(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 && !p.closed {
		i := p.idle[n-1]
		p.idle = p.idle[:n-1]
		i.assign(c)
		return
	}
	p.wait(c, p.queue.PushBack)
	p.grow()
}

// wait puts a call into the queue with push, which is PushBack or PushFront. The call is throttled when it has waited
// for Options.MaxWait, counted from its first enqueue. The caller holds mu.
func (p *pool) wait(c *call, push func(any) *list.Element) {
	if p.closed {
		go c.refuse(ErrClosed) // not while mu is locked
		return
	}
	c.place = push(c)
	c.throttle = time.AfterFunc(p.rt.opts.MaxWait-p.rt.opts.Now().Sub(c.queued), func() { p.throttle(c) })
}

// remove takes a call out of the queue. It reports whether the call was in it. The caller holds mu.
func (p *pool) remove(c *call) bool {
	if c.place == nil {
		return false
	}
	p.queue.Remove(c.place)
	c.throttle.Stop()
	c.place = nil
	return true
}

// throttle refuses a call that has waited for Options.MaxWait. If an instance is starting, the call waits again.
func (p *pool) throttle(c *call) {
	p.mu.Lock()
	if c.place != nil && p.starting > 0 {
		c.throttle.Reset(p.rt.opts.MaxWait)
		p.mu.Unlock()
		return
	}
	wasQueued := p.remove(c)
	p.mu.Unlock()
	if wasQueued {
		c.refuse(fmt.Errorf("%s: %w", p.function.Name, ErrThrottled))
	}
}

// withdraw takes a call out of the queue. It reports whether the call was in it.
func (p *pool) withdraw(c *call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.remove(c)
}

// next takes the first call out of the queue. It returns nil if the queue is empty. The caller holds mu.
func (p *pool) next() *call {
	first := p.queue.Front()
	if first == nil {
		return nil
	}
	c := first.Value.(*call)
	p.remove(c)
	return c
}

// assignNext assigns the first call in the queue, if there is one, to an instance that has just become idle. The caller
// holds mu.
func (p *pool) assignNext(i *instance) {
	defer p.grow()
	if i.version != p.version {
		i.retire()
		return
	}
	if c := p.next(); c != nil {
		i.assign(c)
		return
	}
	i.idleSince = p.rt.opts.Now()
	p.idle = append(p.idle, i)
}

// removeEnded removes an instance whose process has ended. It returns the calls that fail because of it: the call that
// the instance was running, or, if the process did not start, the first call in the queue. If no start seems to
// succeed, all calls in the queue fail.
func (p *pool) removeEnded(i *instance) (failed []*call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.grow()
	from := i.state
	i.move(ended)
	delete(p.all, i)
	p.idle = slices.DeleteFunc(p.idle, func(other *instance) bool { return other == i })
	if i.timer != nil && from != responding {
		i.timer.Stop()
	}
	current := i.version == p.version // the failure of a replaced binary does not mean that the new one fails
	if current && (i.end == byItself || i.end == initTimedOut) {
		p.failures++
		p.failed = p.rt.opts.Now()
	}
	switch from {
	case assigned:
		p.wait(i.call, p.queue.PushFront)
	case running:
		return []*call{i.call}
	case starting, initFailed:
		storm := p.failures >= stormAfter && len(p.all) == 0
		for current && p.queue.Len() > 0 && (storm || len(failed) == 0) {
			failed = append(failed, p.next())
		}
	case idle, responding, responded, stopping, ended:
	}
	return failed
}

// grow starts an instance for calls that wait: at once if there is no instance, else one at a time, when the first call
// has waited for Options.Patience and the last instance has been ready for as long. So few busy instances serve many
// quick calls, which costs much less than many instances that take turns, and calls that block one another get an
// instance each. If there are two instances for each processor and the processors are busy, more instances would only
// delay one another: then the first call waits for up to busyPatience. The caller holds mu.
func (p *pool) grow() {
	short := !p.closed && p.starting == 0 && p.queue.Len() > 0 && len(p.all) < p.function.maxInstances(&p.rt.opts)
	if p.growing || !short {
		return
	}
	pause := p.pause()
	if pause <= 0 {
		i := newInstance(p)
		p.all[i] = struct{}{}
		p.starting++
		p.rt.children.Add(1)
		go i.run()
		return
	}
	p.growing = true
	time.AfterFunc(max(pause, time.Millisecond), func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.growing = false
		p.grow()
	})
}

// pause returns the time until the next start. The queue must not be empty. The caller holds mu.
func (p *pool) pause() time.Duration {
	now := p.rt.opts.Now()
	if p.failures >= stormAfter {
		return min(firstPause<<min(p.failures-stormAfter, 16), maxPause) - now.Sub(p.failed)
	}
	if len(p.all) == 0 {
		return 0
	}
	since := p.queue.Front().Value.(*call).queued
	if len(p.all) >= 2*goruntime.NumCPU() && now.Sub(since) < busyPatience && p.rt.opts.Busy() {
		return processors.MinPeriod
	}
	if p.grown.After(since) {
		since = p.grown
	}
	return p.rt.opts.Patience - now.Sub(since)
}

// reap stops the instances that became idle before a time.
func (p *pool) reap(limit time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.idle) > 0 && p.idle[0].idleSince.Before(limit) {
		p.idle[0].retire()
		p.idle = slices.Delete(p.idle, 0, 1)
	}
}

// replace stops the instances that are idle or starting. Busy instances stop when they ask for their next call.
func (p *pool) replace() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version++
	p.failures = 0
	p.idle = nil
	for i := range p.all {
		i.retire()
	}
	p.grow()
}

// close stops all instances and refuses the calls in the queue.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := p.next(); c != nil; c = p.next() {
		go c.refuse(ErrClosed) // not while mu is locked
	}
	p.idle = nil
	for i := range p.all {
		i.move(stopping) // unless it has a call, which may end within stopGrace
		i.stop()
	}
}
