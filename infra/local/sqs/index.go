package sqs

import (
	"container/heap"
)

// message is the state of a message. Its content is on disk. A message is either visible, and in the list of its group,
// or hidden until a time. A hidden message is delayed if it was never received, and in flight otherwise.
type message struct {
	number     uint64
	id         [16]byte
	sent       int64 // in milliseconds since 1970, like all times here
	first      int64 // first received; 0 if never
	last       int64 // last received
	visible    int64 // when it becomes or became visible
	receives   uint32
	generation uint32 // of its receipt handles; only the generation of the last receive is valid
	source     string // ARN of the queue from which it was moved to this dead-letter queue, or ""

	group      *group
	turn       uint64 // orders visible messages by when they became visible
	next, prev *message
	hiddenAt   int32 // places in the queue's heaps
	agedAt     int32
}

func (m *message) isInFlight() bool { return m.hiddenAt != notInHeap && m.receives > 0 }

// group is the messages of a queue that have the same MessageGroupId. Messages without one are a group as well.
type group struct {
	name       string
	head, tail *message // visible messages in the order in which they became visible
	messages   int      // visible and hidden
	inFlight   int
	readyAt    int32
}

// index is the messages of one queue. All operations take logarithmic time.
type index struct {
	messages map[uint64]*message
	groups   map[string]*group
	ready    ordered[*group]   // groups with visible messages, ordered by servedBefore
	hidden   ordered[*message] // by when they become visible
	aged     ordered[*message] // by when they were sent
	visible  int               // number of visible messages
	inFlight int               // number of messages in flight
	turns    uint64            // the latest turn of a message
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

// servedBefore makes the queue fair. The group with the fewest messages in flight is served next, and among equals the
// one whose first message has waited longest. So a group with many messages delays only itself: another group's message
// waits for at most as many of them as its own group has in flight.
func servedBefore(a, b *group) bool {
	if a.inFlight != b.inFlight {
		return a.inFlight < b.inFlight
	}
	return a.head.turn < b.head.turn
}

// delayedCount returns the number of hidden messages that were never received.
func (x *index) delayedCount() int { return len(x.hidden.members) - x.inFlight }

func (x *index) add(m *message, group string, now int64) {
	m.group = x.groupOf(group)
	m.group.messages++
	m.hiddenAt, m.agedAt = notInHeap, notInHeap
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
		g = &group{name: name, readyAt: notInHeap}
		x.groups[name] = g
	}
	return g
}

func (x *index) remove(m *message) {
	x.detach(m)
	x.aged.remove(m)
	delete(x.messages, m.number)
	m.group.messages--
	if m.group.messages == 0 {
		delete(x.groups, m.group.name)
	}
}

// detach removes a message from the visible or the hidden messages. show, hide or remove must follow.
func (x *index) detach(m *message) {
	if m.hiddenAt == notInHeap {
		x.unlink(m)
		return
	}
	if m.isInFlight() {
		x.inFlight--
		m.group.inFlight--
		x.reorder(m.group)
	}
	x.hidden.remove(m)
}

// hide adds a detached message to the hidden messages.
func (x *index) hide(m *message) {
	x.hidden.add(m)
	if m.receives == 0 {
		return
	}
	x.inFlight++
	m.group.inFlight++
	x.reorder(m.group)
}

// show adds a detached message to the visible messages, as the last of its group.
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

func (x *index) unlink(m *message) {
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

// reorder restores the order of groups after the rank of a group changed.
func (x *index) reorder(g *group) {
	if g.readyAt != notInHeap {
		x.ready.fix(g)
	}
}

// next returns the message to receive next, nil if none is visible.
func (x *index) next() *message {
	g, ok := x.ready.first()
	if !ok {
		return nil
	}
	return g.head
}

// promote makes hidden messages visible whose time has come.
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

// ordered is a heap whose members know their places in it, so that any member can be removed.
type ordered[T any] struct {
	members []T
	before  func(a, b T) bool
	place   func(T) *int32 // returns the field that has the place of a member
}

const notInHeap = -1

func (o *ordered[T]) first() (member T, ok bool) {
	if len(o.members) == 0 {
		return member, false
	}
	return o.members[0], true
}

func (o *ordered[T]) add(member T) { heap.Push((*heapOf[T])(o), member) }

// fix restores the order after the rank of a member changed.
func (o *ordered[T]) fix(member T) { heap.Fix((*heapOf[T])(o), int(*o.place(member))) }

// remove removes a member if it is in the heap.
func (o *ordered[T]) remove(member T) {
	if place := *o.place(member); place != notInHeap {
		heap.Remove((*heapOf[T])(o), int(place))
	}
}

type heapOf[T any] ordered[T]

func (h *heapOf[T]) Len() int           { return len(h.members) }
func (h *heapOf[T]) Less(i, j int) bool { return h.before(h.members[i], h.members[j]) }

func (h *heapOf[T]) Swap(i, j int) {
	h.members[i], h.members[j] = h.members[j], h.members[i]
	*h.place(h.members[i]), *h.place(h.members[j]) = int32(i), int32(j)
}

func (h *heapOf[T]) Push(member any) {
	*h.place(member.(T)) = int32(len(h.members))
	h.members = append(h.members, member.(T))
}

func (h *heapOf[T]) Pop() any {
	last := len(h.members) - 1
	member := h.members[last]
	var zero T
	h.members[last] = zero
	h.members = h.members[:last]
	*h.place(member) = notInHeap
	return member
}
