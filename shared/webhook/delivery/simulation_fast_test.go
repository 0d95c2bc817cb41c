package delivery

import (
	"slices"
	"time"

	"devplatform/shared/webhook/sender"
)

// fanOut does what Fanout.Handle does with an event of an account.
func (s *simulation) fanOut(a *simAccount, births []*simBirth) {
	at := s.at
	s.after(storageTime, func() {
		webhooks := make([]Webhook, len(a.endpoints))
		for i, e := range a.endpoints {
			webhooks[i] = e.stored
		}
		occurrences := []occurrence{{0, s.event(a, at), midnight.Add(at)}}
		direct, creations := divide([][]newItem{newItems(occurrences, webhooks, s.now())})
		s.after(storageTime, func() { // the deliveries are stored
			records := make([]*simRecord, len(direct))
			for i, n := range direct {
				e := s.endpoints[n.delivery.WebhookID]
				records[i] = &simRecord{stored: n.delivery, endpoint: e, born: births[e.place]}
				s.add(records[i])
			}
			s.after(storageTime, func() { // the messages are sent
				for _, r := range records {
					s.fast.send(r.message(), 0)
				}
				for _, c := range creations {
					s.creations.send(&simMessage{message: c.message, births: births, events: occurrences}, 0)
				}
			})
		})
	})
}

// message returns the message that names the delivery.
func (r *simRecord) message() *simMessage {
	return &simMessage{message: r.stored.message(), record: r, endpoint: r.endpoint}
}

// simAttempt is an attempt in the simulation. It has the steps of attempt.
type simAttempt struct {
	attempt
	lane     lane
	record   *simRecord
	message  *simMessage   // in the fast lane
	startEnd time.Duration // no attempt begins at or after this time
	tooLate  bool
	end      func()
}

// handleFast does what FastWorker.Handle does.
func (s *simulation) handleFast(batch []*simMessage, done func()) {
	startEnd := s.at + functionTime - attemptTime
	s.after(storageTime, func() {
		attempts, left := make([]*simAttempt, len(batch)), len(batch)
		for i, m := range batch {
			d, w := m.record.stored, m.endpoint.stored
			a := &simAttempt{lane: fastLane, record: m.record, message: m, startEnd: startEnd}
			a.delivery, a.webhook, a.received.Receives = &d, &w, m.receives
			a.end = func() {
				if left--; left == 0 {
					s.moveAll(attempts, done)
				}
			}
			attempts[i] = a
		}
		for _, a := range attempts {
			s.begin(a)
		}
	})
}

// readAgain reads the delivery and the webhook again, and continues.
func (s *simulation) readAgain(a *simAttempt, then func()) {
	s.after(storageTime, func() {
		d := a.record.stored
		a.delivery = &d
		if a.lane == fastLane {
			w := a.record.endpoint.stored
			a.webhook = &w
		}
		then()
	})
}

// save stores the next version of the delivery. If the delivery was changed after it was read, it reads it again and
// calls stale.
func (s *simulation) save(a *simAttempt, next Delivery, stale, then func()) {
	read := *a.delivery
	s.after(storageTime, func() {
		stored, ok := s.replace(a.record, read, next)
		if !ok {
			s.readAgain(a, stale)
			return
		}
		a.delivery = &stored
		then()
	})
}

// begin does what attempt.prepare does.
func (s *simulation) begin(a *simAttempt) {
	now, again := s.now(), func() { s.begin(a) }
	switch p := planNext(*a.delivery, a.webhook, a.lane, now); p.action {
	case actionSkip:
		a.end()
	case actionReturn:
		s.fast.hide(a.message, p.until.Sub(now))
		a.end()
	case actionPark:
		s.save(a, a.delivery.withFastAttempt(p.until, p.until), again, a.end)
	case actionMove:
		a.toSlowLane = func(d Delivery) (Delivery, bool) { return d.afterMove(now) }
		a.end()
	case actionFail:
		s.save(a, a.delivery.withFinalStatus(Failed, p.reason), again, a.end)
	default:
		s.start(a, now, again)
	}
}

// moveAll does what FastWorker.moveAll does.
func (s *simulation) moveAll(attempts []*simAttempt, done func()) {
	byEndpoint, order := map[*simEndpoint][]*simAttempt{}, []*simEndpoint(nil)
	for _, a := range attempts {
		if e := a.record.endpoint; a.toSlowLane != nil {
			if byEndpoint[e] == nil {
				order = append(order, e)
			}
			byEndpoint[e] = append(byEndpoint[e], a)
		}
	}
	left := len(order)
	end := func() {
		if left--; left <= 0 {
			done()
		}
	}
	if left == 0 {
		end()
	}
	for _, e := range order {
		moves := byEndpoint[e]
		first := moves[max(0, slices.IndexFunc(moves, func(a *simAttempt) bool { return a.hasBegun }))]
		s.makeDue(e, *first.webhook, first.hasBegun, func(send bool) {
			pending, waiting := len(moves), []string(nil)
			for _, a := range moves {
				s.change(a, func(moved bool) {
					if moved {
						s.stats.moved++
						waiting = append(waiting, a.delivery.ID)
					}
					switch pending--; {
					case pending > 0:
					case send:
						s.after(storageTime, func() {
							s.slow.send(e.turnMessage(waiting...), 0)
							end()
						})
					default:
						end()
					}
				})
			}
		})
	}
}

// change stores the moved delivery. moved is false if it must not move.
func (s *simulation) change(a *simAttempt, then func(moved bool)) {
	next, ok := a.toSlowLane(*a.delivery)
	if !ok {
		then(false)
		return
	}
	s.save(a, next, func() { s.change(a, then) }, func() { then(true) })
}

// start begins an attempt, and makes it.
func (s *simulation) start(a *simAttempt, now time.Time, again func()) {
	if s.at >= a.startEnd {
		a.tooLate = true
		if a.lane == fastLane {
			s.fast.hide(a.message, visibility)
		}
		a.end()
		return
	}
	a.jitter = s.jitter()
	a.isLeased = a.lane == slowLane || needsLease(*a.delivery, a.received.Receives)
	a.attempted, a.at = begin(*a.delivery, *a.webhook, a.isLeased, now, a.jitter)
	if !a.isLeased {
		s.post(a)
		return
	}
	s.save(a, a.attempted, again, func() { s.post(a) })
}

// post makes the attempt.
func (s *simulation) post(a *simAttempt) {
	limit := PromptTime
	if a.lane == slowLane {
		limit = 15 * time.Second
	}
	a.hasBegun, a.result = true, s.respond(a.record.endpoint, limit)
	account := a.record.endpoint.account
	account.inFlight++
	s.stats.attempt(account)
	s.after(a.result.Duration, func() {
		account.inFlight--
		a.endedAt = s.now()
		if a.lane == fastLane && a.result.TimedOut {
			a.toSlowLane = func(d Delivery) (Delivery, bool) { return d.afterTimeout(a.at, a.isLeased, a.endedAt) }
			a.end()
			return
		}
		a.decision = decide(a.attempted, *a.webhook, a.result, a.endedAt, a.jitter)
		if a.decision.outcome == outcomeDisable {
			panic("simulation: a webhook was disabled")
		}
		s.record(a)
	})
}

// record records the result as attempt.run does, and does the steps after it.
func (s *simulation) record(a *simAttempt) {
	result := newAttempt(a.at, a.result)
	next, changed := a.delivery.withResult(result, a.isLeased, a.attempted.Manual > 0, a.decision, a.endedAt)
	if !changed {
		s.saveHealth(a)
		return
	}
	a.record.succeeded(a.result, s)
	s.save(a, next, func() { s.record(a) }, func() { s.saveHealth(a) })
}

// succeeded notes when the endpoint received the delivery.
func (r *simRecord) succeeded(result sender.Result, s *simulation) {
	if result.OK() && !r.born.done {
		s.stats.delivered(r.born, s.at)
	}
}

// saveHealth does what worker.saveHealth does, with one write for each attempt.
func (s *simulation) saveHealth(a *simAttempt) {
	after := a.webhook.after(a.result, a.endedAt)
	if !after.changedSince(a.webhook.Health) {
		s.requeue(a)
		return
	}
	before := a.webhook.Health
	s.after(storageTime, func() {
		storeHealth(&a.record.endpoint.stored.Health, before, after)
		s.requeue(a)
	})
}

// requeue does what attempt.requeue does.
func (s *simulation) requeue(a *simAttempt) {
	next := a.decision.at
	if a.lane == fastLane && a.decision.outcome == outcomeRetry && isSoon(next, a.endedAt) {
		s.fast.hide(a.message, next.Sub(a.endedAt))
	}
	a.end()
}
