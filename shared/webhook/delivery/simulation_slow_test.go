package delivery

import "time"

// simTurn is a turn in the simulation. It has the steps of turn.
type simTurn struct {
	*turn
	endpoint *simEndpoint
	message  *simMessage
	startEnd time.Duration // when too little time remains to begin an attempt
	after    simKey        // position in the index
	done     func()
}

// turnMessage returns the message that asks for a turn.
func (e *simEndpoint) turnMessage(deliveries ...string) *simMessage {
	return &simMessage{message: e.stored.turnMessage(deliveries...), endpoint: e}
}

// handleSlow does what SlowWorker.Handle does.
func (s *simulation) handleSlow(batch []*simMessage, done func()) {
	startEnd := s.at + functionTime - attemptTime
	accounts, order := map[*simAccount][]*simTurn{}, []*simAccount(nil)
	for _, m := range batch {
		s.stats.turnMessages++
		account := m.endpoint.account
		t := &simTurn{turn: &turn{worker: s.worker, named: m.Deliveries}, endpoint: m.endpoint, message: m}
		t.startEnd, t.received.Receives = startEnd, m.receives
		if accounts[account] == nil {
			order = append(order, account)
		}
		accounts[account] = append(accounts[account], t)
	}
	left := len(order)
	end := func() {
		if left--; left == 0 {
			done()
		}
	}
	for _, account := range order {
		s.takeSlot(account, func(slot int, lease time.Time) {
			s.runTurns(account, accounts[account], slot, s.at, func() { s.releaseSlot(account, slot, lease, end) })
		})
	}
}

// takeSlot does what Store.takeSlot does. slot is -1 if no slot is free.
func (s *simulation) takeSlot(account *simAccount, then func(slot int, lease time.Time)) {
	now := s.now()
	s.after(storageTime, func() { // the slots are read
		var take func(slot int)
		take = func(slot int) {
			for slot < slotsPerAccount && account.slots[slot].After(now) {
				slot++
			}
			if slot == slotsPerAccount {
				then(-1, time.Time{})
				return
			}
			s.after(storageTime, func() {
				if account.slots[slot].After(now) { // another worker has taken it
					take(slot + 1)
					return
				}
				account.slots[slot] = now.Add(leaseTime)
				then(slot, account.slots[slot])
			})
		}
		take(0)
	})
}

// releaseSlot does what Store.releaseSlot does.
func (s *simulation) releaseSlot(account *simAccount, slot int, lease time.Time, then func()) {
	if slot < 0 {
		then()
		return
	}
	s.after(storageTime, func() {
		if account.slots[slot].Equal(lease) {
			account.slots[slot] = time.Time{}
		}
		then()
	})
}

// runTurns does what SlowWorker.runTurns does with a slot, or without one if slot is -1.
func (s *simulation) runTurns(account *simAccount, turns []*simTurn, slot int, begin time.Duration, then func()) {
	if len(turns) == 0 {
		then()
		return
	}
	t := turns[0]
	t.done = func() { s.runTurns(account, turns[1:], slot, begin, then) }
	if slot < 0 || s.at-begin >= longTurn {
		s.stats.noSlot++
		s.later(t)
		return
	}
	s.beginTurn(t)
}

// later does what turn.returnMessage does.
func (s *simulation) later(t *simTurn) {
	if t.received.Receives < quickReceives {
		s.slow.hide(t.message, time.Duration((3+2*s.jitter())*float64(time.Second)))
	}
	t.done()
}

// beginTurn does what turn.begin does, and works if the turn has begun.
func (s *simulation) beginTurn(t *simTurn) {
	t.now, t.seen = s.now(), map[string]bool{}
	s.after(storageTime, func() {
		w := t.endpoint.stored
		if w.isResting(t.now) || w.hasTurn(t.now) {
			t.done()
			return
		}
		s.after(storageTime, func() {
			stored := &t.endpoint.stored
			if stored.hasTurn(t.now) {
				t.done()
				return
			}
			until := t.now.Add(leaseTime)
			stored.TurnUntil, stored.AddedAt, t.endpoint.turn = stamp(until), nil, t
			t.webhook = *stored
			t.end.window = stored.window()
			s.stats.turn(t.endpoint.account)
			s.work(t)
		})
	})
}

// work does what turn.work does.
func (s *simulation) work(t *simTurn) {
	s.next(t, func(records []*simRecord) {
		if len(records) == 0 {
			s.finishTurn(t)
			return
		}
		if s.at >= t.startEnd {
			t.end.hasMore = true
			s.finishTurn(t)
			return
		}
		s.after(2*storageTime, func() { s.attemptAll(t, records) }) // the deliveries and their payloads are read
	})
}

// attemptAll does what turn.attemptAll does, and continues the work.
func (s *simulation) attemptAll(t *simTurn, records []*simRecord) {
	attempts, left, tooLate := make([]*attempt, len(records)), len(records), false
	for i, r := range records {
		d := r.stored
		a := &simAttempt{lane: slowLane, record: r, startEnd: t.startEnd}
		a.delivery, a.webhook = &d, &t.webhook
		attempts[i] = &a.attempt
		a.end = func() {
			tooLate = tooLate || a.tooLate
			if left--; left > 0 {
				return
			}
			switch {
			case tooLate:
				t.end.hasMore = true
				s.finishTurn(t)
			case t.conclude(attempts):
				s.next(t, func(records []*simRecord) {
					t.end.hasMore = len(records) > 0
					s.finishTurn(t)
				})
			default:
				s.work(t)
			}
		}
		s.begin(a)
	}
}

// next does what turn.next does.
func (s *simulation) next(t *simTurn, then func([]*simRecord)) {
	x := &t.endpoint.index
	for len(t.named) > 0 {
		n := min(len(t.named), t.end.window)
		ids := t.takeUnseen(t.named[:n])
		t.named = t.named[n:]
		var records []*simRecord
		for _, deliveryID := range ids {
			if r := x.byID[deliveryID]; r != nil {
				records = append(records, r)
			}
		}
		if len(records) > 0 {
			then(records)
			return
		}
	}
	s.after(storageTime, func() {
		page := s.page(t.endpoint, t.after, t.end.window)
		var due []*simRecord
		for _, r := range page {
			if at := r.stored.DueAt.Time(); at.After(s.now().Add(clockSkew)) {
				t.noteDue(at)
				then(t.unread(due))
				return
			}
			due = append(due, r)
		}
		if len(page) > 0 {
			t.after = page[len(page)-1].key
		}
		if records := t.unread(due); len(records) > 0 || len(page) < t.end.window {
			then(records)
			return
		}
		s.next(t, then)
	})
}

// unread returns the deliveries that the turn has not read yet.
func (t *simTurn) unread(records []*simRecord) (fresh []*simRecord) {
	for _, r := range records {
		if len(t.takeUnseen([]string{r.stored.ID})) > 0 {
			fresh = append(fresh, r)
		}
	}
	return fresh
}

// finishTurn does what turn.finish does.
func (s *simulation) finishTurn(t *simTurn) {
	next, wait, soon := t.planEnd(s.now(), s.jitter())
	s.after(storageTime, func() {
		if s.endTurn(t, next, !t.end.hasMore) {
			s.endedTurn(t, wait, soon)
			return
		}
		t.end.hasMore = true // deliveries were added
		next, wait, soon := t.planEnd(s.now(), s.jitter())
		s.after(storageTime, func() {
			s.endTurn(t, next, false)
			s.endedTurn(t, wait, soon)
		})
	})
}

// endedTurn returns the message to the queue if the next turn is soon.
func (s *simulation) endedTurn(t *simTurn, wait time.Duration, soon bool) {
	t.endpoint.account.turns--
	if soon {
		s.slow.hide(t.message, wait)
	}
	t.done()
}

// createAll does what SlowWorker.create does, for one message after the other. It merges no messages.
func (s *simulation) createAll(messages []*simMessage, then func()) {
	if len(messages) == 0 {
		then()
		return
	}
	m := messages[0]
	s.after(2*storageTime, func() { // the webhooks and the events are read
		var named []Webhook
		for _, webhookID := range m.Webhooks {
			named = append(named, s.endpoints[webhookID].stored)
		}
		items := newItems(m.events, named, s.now())
		s.after(2*storageTime, func() { // reads which deliveries exist, and stores the others in batches
			var fast []*simRecord
			for _, n := range items {
				e := s.endpoints[n.delivery.WebhookID]
				r := &simRecord{stored: n.delivery, endpoint: e, born: m.births[e.place], written: s.at}
				s.add(r)
				if !n.delivery.waitsInSlowLane() { // the webhook has left the slow lane
					fast = append(fast, r)
				}
			}
			s.makeAllDue(named, items, nil, func(turns []*simMessage) {
				s.after(storageTime, func() {
					for _, r := range fast {
						s.fast.send(r.message(), 0)
					}
					for _, turn := range turns {
						s.slow.send(turn, 0)
					}
					s.createAll(messages[1:], then)
				})
			})
		})
	})
}

// makeAllDue does what SlowWorker.makeAllDue does.
func (s *simulation) makeAllDue(webhooks []Webhook, items []newItem, turns []*simMessage, then func([]*simMessage)) {
	if len(webhooks) == 0 {
		then(turns)
		return
	}
	w := webhooks[0]
	var waiting []string
	for _, n := range items {
		if n.delivery.WebhookID == w.ID && n.delivery.waitsInSlowLane() {
			waiting = append(waiting, n.delivery.ID)
		}
	}
	if len(waiting) == 0 || w.isDueAfterRest(s.now()) && w.DrainedAt == nil {
		s.makeAllDue(webhooks[1:], items, turns, then)
		return
	}
	e := s.endpoints[w.ID]
	s.makeDue(e, w, false, func(send bool) {
		if send {
			turns = append(turns, e.turnMessage(waiting...))
		}
		s.makeAllDue(webhooks[1:], items, turns, then)
	})
}

// retryJob does what RetryJob.Run does. The shards have dueWrites concurrent writes each.
func (s *simulation) retryJob() {
	s.after(time.Minute, s.retryJob)
	until, writes, now := s.now().Add(lookAhead), 0, s.now()
	for len(s.due.items) > 0 && !s.due.items[0].at.After(until) {
		d := s.due.pop()
		if d.stale() {
			continue
		}
		writes++
		s.after(time.Duration(1+writes/simConcurrentWakes)*storageTime, func() {
			if !d.stale() {
				s.wake(d, now)
			}
		})
	}
}

// wake does what RetryJob.wake does, and sends the message.
func (s *simulation) wake(d simDue, now time.Time) {
	from := now
	if d.at.After(from) {
		from = d.at
	}
	delay := max(0, d.at.Sub(now))
	if e := d.endpoint; e != nil {
		s.stats.wakes++
		s.setDue(e, from.Add(wakeWait(e.stored.Wakes)))
		e.stored.Wakes++
		s.after(storageTime, func() { s.slow.send(e.turnMessage(), delay) })
		return
	}
	s.stats.deliveryWakes++
	stored := &d.record.stored
	stored.DueAt = stamp(from.Add(wakeWait(stored.Wakes)))
	stored.Wakes++
	s.due.push(simDue{stored.DueAt.Time(), s.nextDue(), d.record, nil})
	s.after(storageTime, func() { s.fast.send(d.record.message(), delay) })
}
