package delivery

import (
	"fmt"
	"time"
)

// simSetup describes a scenario.
type simSetup struct {
	accounts                 int
	hanging, slow, region    int     // how many accounts of each class; the others are fast
	rate                     float64 // events per second
	quiet                    func(at time.Duration) bool
	fastWorkers, slowWorkers int
	backlog                  int // deliveries of one more account that wait in the slow lane at the beginning
	hangs                    func(class simClass, at time.Duration) bool
	boundary                 time.Duration // see simStats
	phases                   []simPhase
	stopWhenDrained          bool // end when no delivery is pending, or none of an event before boundary if that is set
}

// endpointsOfHanging is the number of webhooks of an account whose endpoints hang. The other accounts have one.
const endpointsOfHanging = 5

// creationWorkers is the number of workers that create deliveries.
const creationWorkers = 20

// simConcurrentWakes is the number of concurrent writes of the retry job.
const simConcurrentWakes = 64 * dueWrites

// simulation runs the decision code of both lanes under a simulated clock. It replaces only the parts around it: the
// table and its index, the queues, the functions, and the endpoints.
type simulation struct {
	*simulator
	setup       simSetup
	accounts    []*simAccount
	endpoints   map[string]*simEndpoint // by the ID of the webhook
	fast, slow  *simQueue
	creations   *simQueue
	due         simHeap[simDue]
	keys        uint64
	eventNumber uint64
	worker      *worker
	stats       *simStats
	published   [simClasses]int
}

func newSimulation(setup simSetup) *simulation {
	s := &simulation{simulator: newSimulator(1), setup: setup, endpoints: map[string]*simEndpoint{}}
	s.worker = &worker{WorkerDeps: WorkerDeps{Deps: Deps{Clock: s.now}}, jitter: s.jitter}
	s.stats = newSimStats(s.simulator, setup.phases)
	s.stats.boundary = setup.boundary
	s.due.before = func(a, b *simDue) bool { return a.at.Before(b.at) || a.at.Equal(b.at) && a.number < b.number }
	s.fast = &simQueue{simulator: s.simulator, workers: setup.fastWorkers, handle: s.handleFast}
	s.slow = &simQueue{simulator: s.simulator, workers: setup.slowWorkers, handle: s.handleSlow}
	s.creations = &simQueue{simulator: s.simulator, workers: creationWorkers, handle: s.createAll}
	for i := range setup.accounts {
		switch {
		case i < setup.hanging:
			s.addAccount(classHanging, endpointsOfHanging)
		case i < setup.hanging+setup.slow:
			s.addAccount(classSlow, 1)
		case i < setup.hanging+setup.slow+setup.region:
			s.addAccount(classRegion, 1)
		default:
			s.addAccount(classFast, 1)
		}
	}
	if setup.backlog > 0 {
		e := s.addAccount(classLarge, 1).endpoints[0]
		e.stored.Prompt, e.index.seeds = false, make([]time.Duration, setup.backlog)
		s.setDue(e, s.now())
		s.stats.add(classLarge, 0, setup.backlog)
	}
	s.after(0, s.retryJob)
	s.after(0, s.publish)
	s.after(time.Second, s.sample)
	return s
}

// addAccount adds an account. Its endpoints are in the fast lane if they respond promptly.
func (s *simulation) addAccount(class simClass, endpoints int) *simAccount {
	a := &simAccount{id: simID("ws", uint64(len(s.accounts))), class: class}
	for i := range endpoints {
		e := &simEndpoint{account: a, place: i, index: simIndex{byID: map[string]*simRecord{}}}
		e.stored = Webhook{
			ID: simID("wh", uint64(len(s.endpoints))), WorkspaceID: a.id, AccountID: accountOf(a.id), Active: true, Events: []string{"*"},
		}
		e.stored.Prompt = class != classHanging && class != classSlow
		a.endpoints = append(a.endpoints, e)
		s.endpoints[e.stored.ID] = e
	}
	s.accounts = append(s.accounts, a)
	return a
}

// simID returns an ID.
func simID(kind string, n uint64) string { return fmt.Sprintf("%s_%026d", kind, n) }

// publish creates an event of a random account, and the next one after a random time.
func (s *simulation) publish() {
	s.after(time.Duration(s.random.ExpFloat64()/s.setup.rate*float64(time.Second)), s.publish)
	a := s.accounts[s.random.IntN(s.setup.accounts)]
	if s.setup.quiet != nil && s.setup.quiet(s.at) {
		return
	}
	s.published[a.class] += len(a.endpoints)
	births := make([]*simBirth, len(a.endpoints))
	for i := range births {
		births[i] = &simBirth{at: s.at, class: a.class}
		s.stats.born(births[i])
	}
	s.fanOut(a, births)
}

// sample updates the values that are read every second.
func (s *simulation) sample() {
	s.after(time.Second, s.sample)
	s.stats.sample()
	left := s.stats.pending
	if s.setup.boundary > 0 {
		left = s.stats.backlog
	}
	s.stopped = s.setup.stopWhenDrained && left == [simClasses]int{}
}

// run runs all phases.
func (s *simulation) run() *simulation {
	for _, p := range s.stats.phases {
		s.stats.simPhaseStats = p
		s.fast.stats, s.slow.stats = simQueueStats{}, simQueueStats{}
		s.creations.stats = simQueueStats{}
		s.runUntil(p.until)
		p.until = min(p.until, s.at)
		p.fast, p.slow = s.fast.stats, s.slow.stats
	}
	s.stats.end()
	return s
}
