package sqs

// message is where one message stands. Its content is in the store. A message is
// visible (in its group's line), or hidden until a time: delayed when nobody has
// received it yet, in flight when somebody has.
type message struct {
	number     uint64
	id         [16]byte
	sent       int64 // milliseconds since 1970, as all times here
	first      int64 // first received; 0: never
	last       int64 // last received
	visible    int64 // when it can be received
	receives   uint32
	generation uint32 // of its receipt handles: only the newest counts
	source     string // ARN of the queue that gave it up to this dead-letter queue; "" when it was sent here

	group      *group
	turn       uint64 // ranks visible messages: which became visible first
	next, prev *message
	hiddenAt   int32 // places in the queue's heaps
	agedAt     int32
}

func (m *message) inFlight() bool { return m.hiddenAt != nowhere && m.receives > 0 }

// group is the messages of a queue that share a MessageGroupId. Those without
// one are a group as well.
type group struct {
	name       string
	head, tail *message // the visible ones in the order in which they became visible
	messages   int      // all of them
	inFlight   int
	readyAt    int32
}

// index is the messages of one queue. Nothing in it takes longer than the
// logarithm of how many there are.
type index struct {
	messages map[uint64]*message
	groups   map[string]*group
	ready    ordered[*group]   // groups with visible messages, the one to serve next first
	hidden   ordered[*message] // by the time they become visible
	aged     ordered[*message] // by the time they were sent
	visible  int
	inFlight int
	turns    uint64
}

func newIndex() index {
	return index{
		messages: map[uint64]*message{},
		groups:   map[string]*group{},
		ready:    ordered[*group]{before: servedBefore, place: func(g *group) *int32 { return &g.readyAt }},
		hidden: ordered[*message]{
			before: func(a, b *message) bool {
				return a.visible < b.visible || a.visible == b.visible && a.number < b.number
			},
			place: func(m *message) *int32 { return &m.hiddenAt },
		},
		aged: ordered[*message]{
			before: func(a, b *message) bool { return a.sent < b.sent },
			place:  func(m *message) *int32 { return &m.agedAt },
		},
	}
}

// servedBefore makes the queue fair: the group with the fewest messages in
// flight is served next, and among equals the one whose message waits longest.
// One noisy group thus delays itself: what others send is behind at most as many
// of its messages as they have in flight themselves.
func servedBefore(a, b *group) bool {
	if a.inFlight != b.inFlight {
		return a.inFlight < b.inFlight
	}
	return a.head.turn < b.head.turn
}

func (x *index) delayed() int { return len(x.hidden.members) - x.inFlight }

// add puts a message in, visible or hidden by its time.
func (x *index) add(m *message, group string, now int64) {
	m.group = x.groupOf(group)
	m.group.messages++
	m.hiddenAt, m.agedAt = nowhere, nowhere
	x.messages[m.number] = m
	x.aged.add(m)
	if m.visible > now {
		x.hide(m)
		return
	}
	x.show(m)
}

func (x *index) groupOf(name string) *group {
	g, ok := x.groups[name]
	if !ok {
		g = &group{name: name, readyAt: nowhere}
		x.groups[name] = g
	}
	return g
}

// remove takes a message out, wherever it is.
func (x *index) remove(m *message) {
	x.detach(m)
	x.aged.remove(m)
	delete(x.messages, m.number)
	if m.group.messages--; m.group.messages == 0 {
		delete(x.groups, m.group.name)
	}
}

// detach ends that a message is visible or hidden; show or hide must follow, or its removal.
func (x *index) detach(m *message) {
	if m.hiddenAt == nowhere {
		x.leaveLine(m)
		return
	}
	if m.inFlight() {
		x.inFlight--
		m.group.inFlight--
		x.reorder(m.group)
	}
	x.hidden.remove(m)
}

// hide hides a detached message until its time.
func (x *index) hide(m *message) {
	x.hidden.add(m)
	if m.receives == 0 {
		return
	}
	x.inFlight++
	m.group.inFlight++
	x.reorder(m.group)
}

// show puts a detached message at the end of its group's line.
func (x *index) show(m *message) {
	g := m.group
	x.turns++
	x.visible++
	m.turn, m.prev, m.next = x.turns, g.tail, nil
	if g.tail != nil {
		g.tail.next = m
		g.tail = m
		return
	}
	g.head, g.tail = m, m
	x.ready.add(g)
}

func (x *index) leaveLine(m *message) {
	g := m.group
	x.visible--
	if m.prev != nil {
		m.prev.next = m.next
	} else {
		g.head = m.next
	}
	if m.next != nil {
		m.next.prev = m.prev
	} else {
		g.tail = m.prev
	}
	m.next, m.prev = nil, nil
	if g.head == nil {
		x.ready.remove(g)
		return
	}
	x.reorder(g)
}

// reorder finds a group's place again after its rank has changed.
func (x *index) reorder(g *group) {
	if g.readyAt != nowhere {
		x.ready.moved(g)
	}
}

// serve is the message to receive next; nil when none is visible.
func (x *index) serve() *message {
	g, ok := x.ready.first()
	if !ok {
		return nil
	}
	return g.head
}

// promote shows the messages whose time has come.
func (x *index) promote(now int64) {
	for {
		m, ok := x.hidden.first()
		if !ok || m.visible > now {
			return
		}
		x.detach(m)
		x.show(m)
	}
}
