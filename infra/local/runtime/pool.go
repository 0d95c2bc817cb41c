package runtime

import (
	"container/list"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Back-off of starts. Failures are processes that ended by themselves; one that outlives a request
// sets the count back. From stormAfter on, one process is tried at a time, after a growing pause:
// a function that crashes on everything costs no processor.
const (
	stormAfter = 3
	firstPause = 20 * time.Millisecond
	maxPause   = time.Second
)

// pool is a function's queue and its instances. A request goes to the most recently used idle
// instance; without one it waits, first come, first served, for whichever is ready first: an
// instance that comes free, or one of those started because requests wait.
type pool struct {
	rt       *Runtime
	function Function
	arn      string
	env      func() []string // from the first start on

	mu       sync.Mutex
	queue    list.List // of *call
	idle     []*instance
	all      map[*instance]struct{}
	starting int
	failures int
	failed   time.Time // the last failure
	grown    time.Time // when the latest instance was ready
	growing  bool      // a start waits for its time
	version  int       // of the binary: the number of replacements
	closed   bool
}

// enqueue hands the call to an idle instance, or makes it wait for one.
func (p *pool) enqueue(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 && !p.closed {
		i := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.assign(i, c)
		return
	}
	p.wait(c, p.queue.PushBack)
	p.grow()
}

// wait puts a call into the queue with push, which is PushBack or PushFront. The call is throttled when it has waited
// for Options.MaxWait, counted from its first enqueue. The caller holds mu.
func (p *pool) wait(c *call, push func(any) *list.Element) {
	if p.closed {
		go c.refuse(ErrClosed) // not under the lock
		return
	}
	c.place = push(c)
	c.throttle = time.AfterFunc(p.rt.opts.MaxWait-p.rt.now().Sub(c.queued), func() { p.overdue(c) })
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

// overdue throttles a call that has waited for Options.MaxWait. If an instance is starting, the call waits again.
func (p *pool) overdue(c *call) {
	p.mu.Lock()
	if c.place != nil && p.starting > 0 {
		c.throttle.Reset(p.rt.opts.MaxWait)
		p.mu.Unlock()
		return
	}
	throttled := p.remove(c)
	p.mu.Unlock()
	if throttled {
		c.refuse(fmt.Errorf("%s: %w", p.function.Name, ErrThrottled))
	}
}

// withdraw takes a call out of the queue. It reports whether the call was in it.
func (p *pool) withdraw(c *call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.remove(c)
}

// assign gives a call to a free instance. The caller holds mu.
func (p *pool) assign(i *instance, c *call) {
	c.wait = p.rt.now().Sub(c.queued)
	c.init = 0
	if i.invocations == 0 {
		c.init = i.init
	}
	i.state = Busy
	i.invocations++
	i.work <- c // never blocks: a free instance holds no call
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

// ready takes an instance that asks for work.
func (p *pool) ready(i *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch i.state {
	case Starting:
		p.starting--
		p.grown = p.rt.now()
		i.init = p.grown.Sub(i.started)
		defer p.grow()
	case Stopping:
		return
	default:
		p.failures = 0
		defer p.grow()
	}
	if i.version != p.version {
		i.state = Stopping
		i.stop()
		return
	}
	if c := p.next(); c != nil {
		p.assign(i, c)
		return
	}
	i.state = Idle
	i.idleSince = p.rt.now()
	p.idle = append(p.idle, i)
}

// returned makes a call the first in the queue again because the instance ended before it took the call.
func (p *pool) returned(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wait(c, p.queue.PushFront)
	p.grow()
}

// gone takes an ended instance out. The calls returned are to fail for its reason: the first one
// that waits when the instance did not even start, all of them when no start seems to succeed.
func (p *pool) gone(i *instance, crashed bool) []*call {
	p.mu.Lock()
	defer p.mu.Unlock()
	state := i.state
	i.state = Stopping
	delete(p.all, i)
	p.idle = slices.DeleteFunc(p.idle, func(other *instance) bool { return other == i })
	select {
	case c := <-i.work:
		p.wait(c, p.queue.PushFront)
	default:
	}
	if state == Starting {
		p.starting--
	}
	if i.version != p.version { // its failure says nothing about the present binary
		p.grow()
		return nil
	}
	if crashed {
		p.failures++
		p.failed = p.rt.now()
	}
	defer p.grow()
	if state != Starting {
		return nil
	}
	var failed []*call
	for c := p.next(); c != nil; c = p.next() {
		failed = append(failed, c)
		if p.failures < stormAfter || len(p.all) > 0 {
			break
		}
	}
	return failed
}

// grow starts an instance for requests that wait: at once where there is none, else one at a time, when the first in
// line has waited for Options.Patience, and the instance started last has had as long to help. So a crowd of quick
// requests is served by few busy instances, which costs far less than many that take turns, while requests that really
// block one another get an instance each. The caller holds mu.
func (p *pool) grow() {
	if p.growing || !p.short() {
		return
	}
	pause := p.pause()
	if pause <= 0 {
		p.start()
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

// pause is how long the next start has to wait. The caller holds mu.
func (p *pool) pause() time.Duration {
	if p.failures >= stormAfter {
		return max(min(firstPause<<min(p.failures-stormAfter, 16), maxPause)-p.rt.now().Sub(p.failed), 0)
	}
	if len(p.all) == 0 {
		return 0
	}
	since := p.grown
	if first, ok := p.queue.Front().Value.(*call); ok && first.queued.After(since) {
		since = first.queued
	}
	return p.rt.opts.Patience - p.rt.now().Sub(since)
}

// short tells that one more instance is wanted and allowed. The caller holds mu.
func (p *pool) short() bool {
	return !p.closed && p.starting == 0 && p.queue.Len() > 0 && len(p.all) < p.function.MaxConcurrency
}

// start begins an instance. The caller holds mu.
func (p *pool) start() {
	i := newInstance(p)
	p.all[i] = struct{}{}
	p.starting++
	p.rt.children.Add(1)
	go i.run()
}

// reap ends the instances that have been idle since before. The least recently used come first.
func (p *pool) reap(before time.Time) {
	p.mu.Lock()
	n := 0
	for n < len(p.idle) && p.idle[n].idleSince.Before(before) {
		p.idle[n].state = Stopping
		n++
	}
	ended := slices.Clone(p.idle[:n])
	p.idle = slices.Delete(p.idle, 0, n)
	p.mu.Unlock()
	for _, i := range ended {
		i.stop()
	}
}

// replace stops the idle instances and those that are starting. A busy instance stops when it asks for its next call.
func (p *pool) replace() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version++
	p.failures = 0
	for i := range p.all {
		switch i.state {
		case Idle:
			i.state = Stopping
			i.stop()
		case Starting: // gone and ready count it down
			i.stop()
		case Busy, Stopping:
		}
	}
	p.idle = nil
	p.grow()
}

// close ends all instances and refuses what still waits.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	var waiting []*call
	for c := p.next(); c != nil; c = p.next() {
		waiting = append(waiting, c)
	}
	p.idle = nil
	var running []*instance
	for i := range p.all {
		if i.state != Starting { // gone counts those down
			i.state = Stopping
		}
		running = append(running, i)
	}
	p.mu.Unlock()
	for _, c := range waiting {
		c.refuse(ErrClosed)
	}
	for _, i := range running {
		i.stop()
	}
}

func (p *pool) snapshot() []Instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]Instance, 0, len(p.all))
	for i := range p.all {
		list = append(list, Instance{
			Function: p.function.Name, PID: int(i.pid.Load()), State: i.state, Init: i.init, Invocations: i.invocations,
		})
	}
	slices.SortFunc(list, func(a, b Instance) int { return a.PID - b.PID })
	return list
}
