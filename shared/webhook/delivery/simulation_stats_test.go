package delivery

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// simClass is a kind of tenants. The endpoints of all tenants of a class behave in the same way.
type simClass int

const (
	classFast    simClass = iota // 50 to 150 ms
	classSlow                    // 3 to 10 s
	classHanging                 // never respond
	classRegion                  // fast, except during the outage of their region
	classLarge                   // has a backlog
	simClasses
)

var simClassNames = [simClasses]string{"fast", "slow", "hanging", "in the region", "with the backlog"}

// simPhase is a part of a scenario, until a time.
type simPhase struct {
	name  string
	until time.Duration
}

// simStats are the values of a simulation.
type simStats struct {
	*simulator
	phases   []*simPhaseStats
	births   [simClasses]simFIFO[*simBirth]
	pending  [simClasses]int
	failed   int
	maxTurns int // at the same time, of an account
	drained  [simClasses]time.Duration
	boundary time.Duration // drained is when no delivery of an event before boundary was still pending
	backlog  [simClasses]int
	*simPhaseStats
}

// simPhaseStats are the values of a phase.
type simPhaseStats struct {
	simPhase
	begin       time.Duration
	latencies   [simClasses][]float32 // in milliseconds, of the events in the phase
	oldest      [simClasses]time.Duration
	maxInFlight int // attempts at the same time, of an account
	fast, slow  simQueueStats
	// wakes and deliveryWakes count the messages of the retry job: for turns, and for deliveries of the fast lane.
	// turnMessages counts the messages for turns that were received, turns the messages that led to a turn, and noSlot
	// the messages that found no slot.
	wakes, deliveryWakes, turnMessages, turns, noSlot, moved int
}

func newSimStats(s *simulator, phases []simPhase) *simStats {
	all := &simStats{simulator: s}
	var begin time.Duration
	for _, p := range phases {
		all.phases = append(all.phases, &simPhaseStats{simPhase: p, begin: begin})
		begin = p.until
	}
	all.simPhaseStats = all.phases[0]
	return all
}

func (s *simStats) born(b *simBirth) {
	s.births[b.class].push(b)
	s.add(b.class, b.at, 1)
}

// add changes the number of pending deliveries.
func (s *simStats) add(class simClass, at time.Duration, n int) {
	s.pending[class] += n
	if at < s.boundary {
		s.backlog[class] += n
		if s.backlog[class] == 0 {
			s.drained[class] = s.at
		}
	}
}

// delivered notes that an endpoint received an event.
func (s *simStats) delivered(b *simBirth, at time.Duration) {
	b.done = true
	s.add(b.class, b.at, -1)
	s.observe(b, at)
}

// observe adds the time from an event until at to the latencies.
func (s *simStats) observe(b *simBirth, at time.Duration) {
	for _, p := range s.phases {
		if b.at < p.until {
			p.latencies[b.class] = append(p.latencies[b.class], float32((at-b.at).Seconds()*1000))
			return
		}
	}
}

// end adds the ages of the deliveries that are still pending to the latencies.
func (s *simStats) end() {
	for class := range s.births {
		for f := &s.births[class]; f.len() > 0; {
			if b := f.pop(); !b.done {
				s.observe(b, s.at)
			}
		}
	}
}

// fail notes that a delivery failed.
func (s *simStats) fail(r *simRecord) {
	r.born.done = true
	s.add(r.born.class, r.born.at, -1)
	s.failed++
}

func (s *simStats) attempt(a *simAccount) { s.maxInFlight = max(s.maxInFlight, a.inFlight) }

func (s *simStats) turn(a *simAccount) {
	s.turns++
	a.turns++
	s.maxTurns = max(s.maxTurns, a.turns)
}

// sample notes the ages of the oldest pending deliveries.
func (s *simStats) sample() {
	for class := range s.births {
		f := &s.births[class]
		for f.len() > 0 && f.first().done {
			f.pop()
		}
		if f.len() > 0 {
			s.oldest[class] = max(s.oldest[class], s.at-f.first().at)
		}
	}
}

// quantile returns a quantile of the latencies of a class.
func (p *simPhaseStats) quantile(class simClass, q float64) time.Duration {
	all := p.latencies[class]
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	i := min(int(q*float64(len(all))), len(all)-1)
	return time.Duration(float64(all[i]) * float64(time.Millisecond))
}

const simHeads = "%-34s %-16s %8s %8s %8s %8s %8s %9s %8s %9s %6s %8s %6s %9s\n"

// simHead is the head of the table. "attempts" is the maximum number of concurrent attempts of an account, "batch" is
// the mean number of messages, and "queue" is the longest time that a message was visible before it was received.
func simHead() string {
	return trimLines(fmt.Sprintf(simHeads, "", "tenants", "p50", "p99", "slowest", "oldest", "attempts", "wake-ups",
		"turns", "turn msg", "fast", "fast", "slow", "slow") +
		fmt.Sprintf(simHeads, "", "", "", "", "", "pending", "/account", "/s", "/s", "/s", "batch", "queue", "busy", "queue"))
}

// rows returns the rows of a phase.
func (p *simPhaseStats) rows(s *simulation, classes ...simClass) string {
	var table strings.Builder
	seconds := (p.until - p.begin).Seconds()
	perSecond := func(n int) string { return fmt.Sprintf("%.1f", float64(n)/seconds) }
	busy := fmt.Sprintf("%.0f %%", 100*p.slow.busyTime.Seconds()/seconds/float64(s.setup.slowWorkers))
	batch := fmt.Sprintf("%.1f", float64(p.fast.received)/float64(max(p.fast.batches, 1)))
	name, shared := p.name, []any{
		fmt.Sprint(p.maxInFlight), perSecond(p.wakes + p.deliveryWakes), perSecond(p.turns), perSecond(p.turnMessages),
		batch, simDuration(p.fast.maxAge), busy, simDuration(p.slow.maxAge),
	}
	for _, class := range classes {
		values := []any{name, simClassNames[class]}
		for _, d := range []time.Duration{
			p.quantile(class, 0.5), p.quantile(class, 0.99), p.quantile(class, 1), p.oldest[class],
		} {
			values = append(values, simDuration(d))
		}
		values = append(values, shared...)
		fmt.Fprintf(&table, simHeads, values...)
		name, shared = "", []any{"", "", "", "", "", "", "", ""}
	}
	return trimLines(table.String())
}

// trimLines removes the spaces at the ends of lines.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// simDuration returns a duration with about three digits.
func simDuration(d time.Duration) string {
	switch {
	case d == 0:
		return "-"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
