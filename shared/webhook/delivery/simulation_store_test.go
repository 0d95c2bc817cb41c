package delivery

import (
	"cmp"
	"slices"
	"time"

	"devplatform/shared/event"
	"devplatform/shared/webhook/sender"
)

// simAccount is a tenant: an account with one workspace.
type simAccount struct {
	id        string
	class     simClass
	endpoints []*simEndpoint
	slots     [slotsPerAccount]time.Time // the ends of their leases
	inFlight  int                        // attempts
	turns     int
}

// simEndpoint is a webhook and its endpoint.
type simEndpoint struct {
	stored  Webhook
	account *simAccount
	place   int      // in the account
	turn    *simTurn // the turn that holds the lease
	index   simIndex
}

// simRecord is a stored delivery.
type simRecord struct {
	stored   Delivery
	endpoint *simEndpoint
	born     *simBirth
	key      simKey
	written  time.Duration // when the index entry was written
	indexed  bool
}

// simBirth is an event for an endpoint, from which a delivery is made.
type simBirth struct {
	at    time.Duration
	class simClass
	done  bool
}

// simKey is the position of a delivery in the index.
type simKey struct {
	at     int64 // in milliseconds
	number uint64
}

func (k simKey) compare(other simKey) int {
	return cmp.Or(cmp.Compare(k.at, other.at), cmp.Compare(k.number, other.number))
}

// simIndex are the deliveries of an endpoint that wait in the slow lane. seeds are the times of deliveries that no turn
// has read yet: they become records when a turn reads them, because a million records would need too much memory.
type simIndex struct {
	entries []*simRecord
	byID    map[string]*simRecord
	seeds   []time.Duration
}

func (x *simIndex) search(k simKey) (int, bool) {
	return slices.BinarySearchFunc(x.entries, k, func(r *simRecord, k simKey) int { return r.key.compare(k) })
}

func (x *simIndex) add(r *simRecord) {
	i, _ := x.search(r.key)
	x.entries = slices.Insert(x.entries, i, r)
	x.byID[r.stored.ID] = r
	r.indexed = true
}

func (x *simIndex) remove(r *simRecord) {
	i, found := x.search(r.key)
	if !found {
		panic("simulation: the index does not contain a delivery")
	}
	x.entries = slices.Delete(x.entries, i, i+1)
	delete(x.byID, r.stored.ID)
	r.indexed = false
}

// page returns the next deliveries after a position.
func (s *simulation) page(e *simEndpoint, after simKey, limit int) (page []*simRecord) {
	x := &e.index
	i, found := x.search(after)
	if found {
		i++
	}
	for len(x.seeds) > 0 && (len(x.entries) < i+limit ||
		x.entries[i+limit-1].key.at > midnight.Add(x.seeds[0]).UnixMilli()) {
		at := x.seeds[0]
		x.seeds = x.seeds[1:]
		begin := midnight.Add(at)
		d := newDelivery(s.event(e.account, at), begin, e.stored, begin).withSlowAttempt(begin)
		s.add(&simRecord{stored: d, endpoint: e, born: &simBirth{at: at, class: e.account.class}, written: at})
	}
	for ; i < len(x.entries) && len(page) < limit; i++ {
		if x.entries[i].written+indexLag <= s.at {
			page = append(page, x.entries[i])
		}
	}
	return page
}

// event returns an event of an account.
func (s *simulation) event(a *simAccount, at time.Duration) event.Record {
	s.eventNumber++
	return event.Record{
		ID: simID("evt", s.eventNumber), Type: event.FileUpdated, WorkspaceID: a.id, Payload: "{}",
		ExpiresAt: midnight.Add(at).Unix(),
	}
}

// add stores a new delivery.
func (s *simulation) add(r *simRecord) {
	r.stored.Version = 1
	s.indexAgain(r)
}

// replace stores the next version of a delivery if the stored version is still the one that was read.
func (s *simulation) replace(r *simRecord, read, next Delivery) (Delivery, bool) {
	if r.stored.Version != read.Version {
		return next, false
	}
	next.Version = read.Version + 1
	if r.indexed {
		r.endpoint.index.remove(r)
	}
	r.stored, r.written = next, s.at
	s.indexAgain(r)
	if next.Status != Pending && !r.born.done {
		s.stats.fail(r)
	}
	return next, true
}

// indexAgain adds a delivery to the index.
func (s *simulation) indexAgain(r *simRecord) {
	switch d := r.stored; {
	case d.Due == "":
	case d.waitsInSlowLane():
		s.keys++
		r.key = simKey{d.DueAt.Time().UnixMilli(), s.keys}
		r.endpoint.index.add(r)
	default:
		s.due.push(simDue{d.DueAt.Time(), s.nextDue(), r, nil})
	}
}

// simDue is an entry of the index that the retry job reads. It is stale if the record has another time.
type simDue struct {
	at       time.Time
	number   uint64
	record   *simRecord // or
	endpoint *simEndpoint
}

// nextDue returns the number of the next entry.
func (s *simulation) nextDue() uint64 {
	s.keys++
	return s.keys
}

func (d simDue) isStale() bool {
	if d.endpoint != nil {
		return d.endpoint.stored.DueAt == nil || !d.endpoint.stored.DueAt.Time().Equal(d.at)
	}
	stored := d.record.stored
	return stored.DueAt == nil || stored.waitsInSlowLane() || !stored.DueAt.Time().Equal(d.at)
}

// setDue sets the time at which an endpoint is due.
func (s *simulation) setDue(e *simEndpoint, at time.Time) {
	e.stored.Due, e.stored.DueAt = duePartition(e.stored.ID), stamp(at)
	s.pushDue(e)
}

// pushDue adds the endpoint to the index, if it is due.
func (s *simulation) pushDue(e *simEndpoint) {
	if e.stored.DueAt != nil {
		s.due.push(simDue{e.stored.DueAt.Time(), s.nextDue(), nil, e})
	}
}

// makeDue does what Store.makeDue does. w is the webhook as it was read. send reports whether a message must be sent.
func (s *simulation) makeDue(e *simEndpoint, w Webhook, leaveFastLane bool, then func(send bool)) {
	now := s.now()
	dueAt := w.dueAfterAddition(now)
	s.after(storageTime, func() {
		s.setDue(e, dueAt)
		e.stored.DrainedAt = nil
		if e.stored.AddedAt == nil || w.AddedAt != nil && !w.hasRecentAddition(now) {
			e.stored.AddedAt = stamp(now)
		}
		if leaveFastLane {
			e.stored.Prompt = false
		}
		then(e.stored.needsMessage(now))
	})
}

// endTurn does what Store.endTurn does.
func (s *simulation) endTurn(t *simTurn, next Turns, unlessAdded bool) bool {
	w := &t.endpoint.stored
	if t.endpoint.turn != t || unlessAdded && w.AddedAt != nil {
		return false
	}
	t.endpoint.turn, w.Turns = nil, next
	s.pushDue(t.endpoint)
	return true
}

// storeHealth does what Store.putHealth does.
func storeHealth(h *Health, before, after Health) {
	h.LastAt, h.LastStatus, h.Prompt = after.LastAt, after.LastStatus, after.Prompt
	if after.LastStatus == Succeeded {
		h.Failures, h.FailingSince = 0, nil
		return
	}
	h.Failures += max(0, after.Failures-before.Failures)
	if h.FailingSince == nil {
		h.FailingSince = after.LastAt
	}
}

// respond returns the result of a request that begins now.
func (s *simulation) respond(e *simEndpoint, limit time.Duration) sender.Result {
	took := 50*time.Millisecond + time.Duration(s.random.Int64N(int64(100*time.Millisecond)))
	class := e.account.class
	switch {
	case s.setup.hangs(class, s.at):
		took = limit
	case class == classSlow:
		took = 3*time.Second + time.Duration(s.random.Int64N(int64(7*time.Second)))
	}
	if took >= limit {
		return sender.Result{Duration: limit, Error: "timeout", TimedOut: true}
	}
	return sender.Result{Duration: took, StatusCode: 200}
}
