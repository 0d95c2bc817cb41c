package delivery

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/webhook/sender"
)

// model is a delivery that workers of both lanes, the user and killed functions change in random order.
type model struct {
	d    Delivery
	w    Webhook
	now  time.Time
	late []func(Delivery) Delivery // store the results of attempts that were not stored when the attempts ended
}

// step lets a worker of a lane check the delivery.
func (m *model) step(t *rapid.T, l lane) {
	jitter := rapid.Float64Range(-1, 1).Draw(t, "jitter")
	switch p := planNext(m.d, &m.w, l, m.now); p.action {
	case actionFail:
		m.d = m.d.withFinalStatus(Failed, p.reason)
	case actionMove:
		m.d, _ = m.d.afterMove(m.now)
	case actionPark:
		m.d = m.d.withFastAttempt(p.until, p.until)
	case actionAttempt:
		leased := l == slowLane || needsLease(m.d, rapid.IntRange(1, 2).Draw(t, "receives"))
		trying, at := begin(m.d, m.w, leased, m.now, jitter)
		if leased {
			m.d = trying
			m.check(t)
		}
		m.now = m.now.Add(time.Duration(rapid.Int64Range(1, int64(15*time.Second)).Draw(t, "duration")))
		m.end(t, trying, at, leased, l, jitter)
	}
}

// end ends an attempt: it succeeds, fails or times out, its function is killed, or another worker or a user changes the
// delivery before the result is stored.
func (m *model) end(t *rapid.T, trying Delivery, at clock.Timestamp, leased bool, l lane, jitter float64) {
	results := []sender.Result{
		{StatusCode: 200}, {StatusCode: 500, Error: "status 500"},
		{StatusCode: 503, Error: "status 503", RetryAfter: time.Hour}, {Error: "too slow", TimedOut: true},
	}
	r, ended := rapid.SampledFrom(results).Draw(t, "result"), m.now
	store := func(d Delivery) Delivery {
		v := decide(trying, m.w, r, ended, jitter)
		next, changed := d.withResult(newAttempt(at, r), leased, trying.Manual > 0, v, ended)
		if l == fastLane && r.TimedOut {
			next, changed = d.afterTimeout(at, leased, ended)
		}
		if !changed {
			return d
		}
		return next
	}
	switch rapid.SampledFrom([]string{"stored", "stored", "killed", "redelivered", "late"}).Draw(t, "end") {
	case "stored":
		m.d = store(m.d)
	case "redelivered":
		m.d = m.d.afterRestart(m.now, true)
		m.check(t)
		m.d = store(m.d)
	case "late":
		m.late = append(m.late, store)
	}
}

// check checks the properties that a delivery has in every state.
func (m *model) check(t *rapid.T) {
	d := m.d
	if !slices.IsSortedFunc(d.Attempts, func(a, b Attempt) int { return a.At.Time().Compare(b.At.Time()) }) {
		t.Fatalf("the attempts are not in the order of their times: %v", d.Attempts)
	}
	if len(d.Attempts) > maxAttemptsKept || d.Tries > maxTries {
		t.Fatalf("got %d attempts and %d tries, want at most %d and %d", len(d.Attempts), d.Tries, maxAttemptsKept, maxTries)
	}
	checkIndex(t, d, m.now)
}

// checkIndex checks that a pending delivery is in the index where its lane finds it, and that a finished one is not.
func checkIndex(t *rapid.T, d Delivery, now time.Time) {
	if d.Status != Pending {
		if d.Due != "" || d.DueAt != nil || d.NextAttemptAt != nil || d.LeaseUntil != nil || d.Manual != 0 {
			t.Fatalf("a finished delivery is in the index, leased or a redelivery: %+v", d)
		}
		return
	}
	if d.DueAt == nil || d.NextAttemptAt == nil {
		t.Fatalf("a pending delivery is not in the index: %+v", d)
	}
	due, next := d.DueAt.Time(), d.NextAttemptAt.Time()
	switch d.Due {
	case db.SlowPartition(webhookA):
		if !due.Equal(next) || d.Wakes != 0 {
			t.Fatalf("due at %v after %d wakes, want the time %v of the next attempt and no wakes", due, d.Wakes, next)
		}
	case duePartition(deliveryA):
		if d.LeaseUntil != nil && due.Before(d.LeaseUntil.Time()) {
			t.Fatalf("the delivery is due at %v, want not before the end of the lease at %v", due, d.LeaseUntil)
		}
		if due.After(later(next, now).Add(messageTimeout)) {
			t.Fatalf("the delivery is due at %v, want at most %v after its next attempt at %v", due, messageTimeout, next)
		}
	default:
		t.Fatalf("the delivery is in the partition %q of the index", d.Due)
	}
}

// A pending delivery is always in the index, so that its lane or the retry job finds it. In the fast lane, its time is
// not before the end of its lease, and not long after its next attempt. In the slow lane, its time is the time of its
// next attempt.
func TestPendingDeliveriesStayInTheIndex(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := model{d: newFast(midnight), w: Webhook{Active: true}, now: midnight}
		if rapid.Bool().Draw(t, "new endpoint") {
			m.d = newSlow(midnight)
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			m.now = m.now.Add(time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, "wait")))
			m.w.Prompt = rapid.Bool().Draw(t, "prompt")
			switch manual := rapid.Bool().Draw(t, "manual"); {
			case !rapid.Bool().Draw(t, "redelivered"):
			case manual || m.d.isRecoverable(m.now):
				m.d = m.d.afterRestart(m.now, manual)
			}
			if m.d.Status == Pending && !m.d.waitsInSlowLane() {
				m.d.Wakes = rapid.IntRange(0, 2).Draw(t, "wakes")
			}
			m.check(t)
			m.step(t, rapid.SampledFrom([]lane{fastLane, slowLane}).Draw(t, "lane"))
			m.check(t)
			if len(m.late) > 0 && rapid.Bool().Draw(t, "a late result is stored") {
				before := m.d
				m.d, m.late = m.late[0](m.d), m.late[1:]
				m.check(t)
				if before.Status != Pending && m.d.Status != before.Status {
					t.Fatalf("a late result changed a finished delivery to %+v", m.d)
				}
			}
		}
	})
}

// redeliveries is a delivery that is redelivered several times. It counts the requests, and the attempts of
// redeliveries that were completed.
type redeliveries struct {
	d                           Delivery
	w                           Webhook
	now                         time.Time
	requested, attempted, kills int
}

func (m *redeliveries) request() {
	m.requested++
	m.d = m.d.afterRestart(m.now, true)
}

// plan lets the worker of the lane in which the delivery waits check it. If the delivery is then in the other lane, the
// worker of that lane checks it. It returns the lane, and whether an attempt is made.
func (m *redeliveries) plan() (lane, bool) {
	for _, l := range []lane{fastLane, slowLane} {
		switch planNext(m.d, &m.w, l, m.now).action {
		case actionMove:
			m.d, _ = m.d.afterMove(m.now)
		case actionAttempt:
			return l, true
		}
	}
	return slowLane, false
}

// attempt attempts the delivery once. During the attempt, redeliveries are requested. If timesOut is set, an attempt in
// the fast lane is aborted.
func (m *redeliveries) attempt(t *rapid.T, requests int, timesOut bool) {
	l, ok := m.plan()
	if !ok {
		return
	}
	leased := l == slowLane || needsLease(m.d, 1)
	trying, at := begin(m.d, m.w, leased, m.now, 0)
	if leased {
		m.d = trying
	}
	for range requests {
		m.request()
	}
	before, r := m.d.Manual, sender.Result{StatusCode: 200}
	if rapid.Bool().Draw(t, "fails") {
		r = sender.Result{StatusCode: 500, Error: "status 500"}
	}
	v := decide(trying, m.w, r, m.now, 0)
	if l == fastLane && timesOut {
		m.d, _ = m.d.afterTimeout(at, leased, m.now)
		m.w.Prompt = false
	} else {
		m.d, _ = m.d.withResult(newAttempt(at, r), leased, trying.Manual > 0, v, m.now)
	}
	m.attempted += before - m.d.Manual
	if _, due := m.plan(); m.d.Manual > 0 && !due {
		t.Fatalf("the next redelivery is not due immediately: %+v", m.d)
	}
}

// kill begins an attempt, and kills its function. It is done fewer than maxTries times, so that the delivery does not
// fail.
func (m *redeliveries) kill() {
	l, ok := m.plan()
	if !ok || m.kills == maxTries-1 {
		return
	}
	m.kills++
	if l == slowLane || needsLease(m.d, 1) {
		m.d, _ = m.d.withLease(m.w, m.now, 0)
	}
	m.now = m.d.NextAttemptAt.Time().Add(leaseTime)
}

// Each requested redelivery leads to exactly one completed attempt, which begins after the request. This does not
// depend on when redeliveries are requested, how attempts end, and the lane of the endpoint.
func TestEachRedeliveryIsAttempted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		states := map[string]Delivery{
			"new": newFast(midnight), "waits": newSlow(midnight), "failed": newFast(midnight).withFinalStatus(Failed, ""),
		}
		m := redeliveries{
			d: states[rapid.SampledFrom([]string{"new", "waits", "failed"}).Draw(t, "state")],
			w: Webhook{Active: true}, now: midnight,
		}
		check := func() {
			checkIndex(t, m.d, m.now)
			if m.d.Manual != m.requested-m.attempted {
				t.Fatalf("of %d redeliveries, %d were attempted, but %d remain", m.requested, m.attempted, m.d.Manual)
			}
		}
		steps := rapid.SliceOf(rapid.SampledFrom([]string{"redeliver", "kill", "attempt", "time out"})).Draw(t, "steps")
		for _, step := range steps {
			m.now = m.now.Add(time.Second)
			m.w.Prompt = rapid.Bool().Draw(t, "prompt")
			switch step {
			case "redeliver":
				m.request()
			case "kill":
				m.kill()
			default:
				m.attempt(t, rapid.IntRange(0, 3).Draw(t, "requests during the attempt"), step == "time out")
			}
			check()
		}
		for range m.d.Manual { // attempt the remaining redeliveries
			m.attempt(t, 0, false)
			check()
		}
		if m.requested != m.attempted {
			t.Fatalf("%d redeliveries were requested, and %d attempted", m.requested, m.attempted)
		}
	})
}
