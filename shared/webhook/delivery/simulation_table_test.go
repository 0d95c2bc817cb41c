package delivery

import (
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"
)

// always makes the endpoints of classHanging hang all the time.
func always(class simClass, _ time.Duration) bool { return class == classHanging }

// fullSetup is the service with 10,000 tenants and 1,000 events per second. With noise, 1 % of the tenants hang and 5 %
// are slow.
func fullSetup(noise bool, phases ...simPhase) simSetup {
	setup := simSetup{
		accounts: 10_000, rate: 1000, fastWorkers: 50, slowWorkers: 50, hangs: always, phases: phases,
	}
	if noise {
		setup.hanging, setup.slow = 100, 500
	}
	return setup
}

// TestFullSimulation writes the table of all scenarios to the file that the environment variable SIMULATION names. It
// takes several minutes.
func TestFullSimulation(t *testing.T) {
	path := os.Getenv("SIMULATION")
	if path == "" {
		t.Skip("SIMULATION is not set")
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprintf(file, "50 workers of the fast lane, 50 of the slow lane, 10 messages each; 10,000 tenants; "+
		"1,000 events/s unless noted\n"+
		"fast endpoints: 50 to 150 ms; slow ones: 3 to 10 s; hanging tenants: %d endpoints each\n"+
		"a delivery that is still pending at the end of a scenario counts with its age\n",
		endpointsOfHanging)
	_, _ = io.WriteString(file, simHead())
	baseline := simulateSteadyState(file)
	simulateOutage(file)
	simulateBacklog(file)
	simulateSweep(file, baseline)
	simulateWorkers(file)
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// simulateSteadyState writes the rows with and without noise. It returns the p99 without noise.
func simulateSteadyState(out io.Writer) time.Duration {
	const length = 10 * time.Minute
	quiet := newSimulation(fullSetup(false, simPhase{"steady, without noise", length})).run()
	_, _ = io.WriteString(out, quiet.stats.phases[0].rows(quiet, classFast))
	noisy := newSimulation(fullSetup(true,
		simPhase{"steady, first 5 min", length / 2}, simPhase{"steady, next 5 min", length})).run()
	for _, p := range noisy.stats.phases {
		_, _ = io.WriteString(out, p.rows(noisy, classFast, classSlow, classHanging))
	}
	return quiet.stats.phases[0].quantile(classFast, 0.99)
}

// simulateOutage writes the rows of an outage of 30 % of the endpoints.
func simulateOutage(out io.Writer) {
	const begin, end = 5 * time.Minute, 35 * time.Minute
	setup := fullSetup(true,
		simPhase{"outage, before", begin}, simPhase{"outage, first 10 s", begin + 10*time.Second},
		simPhase{"outage, first minute", begin + time.Minute}, simPhase{"outage, until 30 min", end},
		simPhase{"recovery, first minute", end + time.Minute}, simPhase{"recovery, until 30 min", end + 30*time.Minute})
	setup.region, setup.boundary = 3000, end
	setup.hangs = func(class simClass, at time.Duration) bool {
		return class == classHanging || class == classRegion && at >= begin && at < end
	}
	s := newSimulation(setup).run()
	for _, p := range s.stats.phases {
		_, _ = io.WriteString(out, p.rows(s, classFast, classRegion, classSlow))
	}
	_, _ = fmt.Fprintf(out, "the backlog of the region was delivered after the recovery: %s; left: %d\n",
		drainedAfter(s, classRegion, end), s.stats.backlog[classRegion])
}

// simulateBacklog writes the rows of a tenant with a million deliveries, whose endpoint hangs for an hour.
func simulateBacklog(out io.Writer) {
	const part, end = 5 * time.Minute, time.Hour
	setup := fullSetup(true,
		simPhase{"1 M pending, first 5 min", part}, simPhase{"1 M pending, no other events", end},
		simPhase{"1 M pending, 5 min of recovery", end + part}, simPhase{"1 M pending, no other events", 100 * time.Hour})
	setup.backlog, setup.boundary, setup.stopWhenDrained = 1_000_000, time.Nanosecond, true
	setup.quiet = func(at time.Duration) bool { return at >= part && at < end || at >= end+part }
	setup.hangs = func(class simClass, at time.Duration) bool {
		return class == classHanging || class == classLarge && at < end
	}
	s := newSimulation(setup).run()
	for _, p := range s.stats.phases {
		_, _ = io.WriteString(out, p.rows(s, classFast, classSlow, classLarge))
	}
	_, _ = fmt.Fprintf(out, "1 M deliveries were delivered after the recovery: %s; left: %d; failed: %d\n",
		drainedAfter(s, classLarge, end), s.stats.backlog[classLarge], s.stats.failed)
}

// drainedAfter returns the time from the recovery until the backlog was delivered.
func drainedAfter(s *simulation, class simClass, recovery time.Duration) string {
	if s.stats.backlog[class] > 0 {
		return "not in this time"
	}
	return simDuration(s.stats.drained[class] - recovery)
}

// simulateSweep writes rows with higher and higher rates of events, until the p99 of the fast tenants is more than
// twice the baseline.
func simulateSweep(out io.Writer, baseline time.Duration) {
	step := 1000.0
	for rate := 1000.0; rate <= 10_000; rate += step {
		if rate >= 3000 {
			step = 250
		}
		setup := fullSetup(true, simPhase{fmt.Sprintf("%.0f events/s, 2 min", rate), 2 * time.Minute})
		setup.rate = rate
		s := newSimulation(setup).run()
		p := s.stats.phases[0]
		_, _ = io.WriteString(out, p.rows(s, classFast, classSlow))
		if p.quantile(classFast, 0.99) > 2*baseline {
			_, _ = fmt.Fprintf(out, "p99 of the fast tenants exceeds twice the baseline at %.0f events/s\n", rate)
			return
		}
	}
}

// simulateWorkers writes the rows with more workers: of the slow lane in the steady state, and of the fast lane during
// the outage.
func simulateWorkers(out io.Writer) {
	const half, outage = 5 * time.Minute, time.Minute
	for _, workers := range []int{100, 200} {
		setup := fullSetup(true,
			simPhase{fmt.Sprintf("%d workers slow, first 5 min", workers), half}, simPhase{"next 5 min", 2 * half})
		setup.slowWorkers = workers
		s := newSimulation(setup).run()
		for _, p := range s.stats.phases {
			_, _ = io.WriteString(out, p.rows(s, classFast, classSlow))
		}
	}
	setup := fullSetup(true, simPhase{"200 workers fast, before", outage},
		simPhase{"outage, first 10 s", outage + 10*time.Second}, simPhase{"outage, first minute", 2 * outage})
	setup.fastWorkers, setup.region = 200, 3000
	setup.hangs = func(class simClass, at time.Duration) bool {
		return class == classHanging || class == classRegion && at >= outage
	}
	s := newSimulation(setup).run()
	for _, p := range s.stats.phases {
		_, _ = io.WriteString(out, p.rows(s, classFast, classRegion))
	}
}

// simulateShort runs a small service: a steady minute, and an outage of a tenth of the endpoints in the next one. The
// hanging endpoints recover later.
func simulateShort(noise bool) *simulation {
	setup := simSetup{
		accounts: 1000, rate: 100, fastWorkers: 10, slowWorkers: 10, stopWhenDrained: true,
		phases: []simPhase{{"steady", time.Minute}, {"outage", 2 * time.Minute}, {"recovery", 3 * time.Hour}},
	}
	if noise {
		setup.hanging, setup.slow, setup.region = 10, 50, 100
	}
	setup.quiet = func(at time.Duration) bool { return at >= 2*time.Minute }
	setup.hangs = func(class simClass, at time.Duration) bool {
		return class == classHanging && at < 4*time.Minute ||
			class == classRegion && at >= time.Minute && at < 90*time.Second
	}
	return newSimulation(setup).run()
}

// Tenants whose endpoints hang or are slow do not delay other tenants, and all deliveries arrive.
func TestSimulation(t *testing.T) {
	t.Parallel()
	quiet, noisy := simulateShort(false), simulateShort(true)
	before, during := quiet.stats.phases[0], noisy.stats.phases[0]
	for _, q := range []float64{0.5, 0.99} {
		if got, want := during.quantile(classFast, q), before.quantile(classFast, q); got > 2*want {
			t.Errorf("quantile %v of the fast tenants: got %v, more than twice the %v without noise", q, got, want)
		}
	}
	if noisy.stats.maxTurns > 2 {
		t.Errorf("got %d turns of an account at the same time", noisy.stats.maxTurns)
	}
	if outage := noisy.stats.phases[1]; during.turns == 0 || during.noSlot == 0 || outage.moved == 0 {
		t.Errorf("the slow lane was not used: %d turns, %d without a slot, %d moved",
			during.turns, during.noSlot, outage.moved)
	}
	for class := range simClasses {
		published, delivered := noisy.published[class], 0 // the latencies contain no pending deliveries if there are none
		for _, p := range noisy.stats.phases {
			delivered += len(p.latencies[class])
		}
		if delivered != published || noisy.stats.pending[class] != 0 || noisy.stats.failed > 0 {
			t.Errorf("%s: got %d of %d deliveries, %d pending, %d failed", simClassNames[class], delivered, published,
				noisy.stats.pending[class], noisy.stats.failed)
		}
	}
	again := simulateShort(true)
	classes := []simClass{classFast, classSlow, classHanging, classRegion}
	if !slices.EqualFunc(noisy.stats.phases, again.stats.phases, func(p, q *simPhaseStats) bool {
		return p.rows(noisy, classes...) == q.rows(again, classes...)
	}) {
		t.Error("two runs have different results")
	}
}
