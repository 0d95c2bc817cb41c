package sqs

import "container/heap"

// ordered is a heap whose members know their places in it, so that one can be
// taken out of the middle.
type ordered[T any] struct {
	members []T
	before  func(a, b T) bool
	place   func(T) *int32 // where a member notes its place
}

// nowhere is the place of what is not in the heap.
const nowhere = -1

func (o *ordered[T]) first() (member T, ok bool) {
	if len(o.members) == 0 {
		return member, false
	}
	return o.members[0], true
}

func (o *ordered[T]) add(member T) { heap.Push((*heapOf[T])(o), member) }

// moved restores the order after a member's rank has changed.
func (o *ordered[T]) moved(member T) { heap.Fix((*heapOf[T])(o), int(*o.place(member))) }

// remove takes a member out; it does nothing when it isn't in.
func (o *ordered[T]) remove(member T) {
	if place := *o.place(member); place != nowhere {
		heap.Remove((*heapOf[T])(o), int(place))
	}
}

// heapOf is what package heap sees of an ordered.
type heapOf[T any] ordered[T]

func (h *heapOf[T]) Len() int           { return len(h.members) }
func (h *heapOf[T]) Less(i, j int) bool { return h.before(h.members[i], h.members[j]) }

func (h *heapOf[T]) Swap(i, j int) {
	h.members[i], h.members[j] = h.members[j], h.members[i]
	*h.place(h.members[i]), *h.place(h.members[j]) = int32(i), int32(j) //nolint:gosec // far fewer messages fit into memory
}

func (h *heapOf[T]) Push(member any) {
	*h.place(member.(T)) = int32(len(h.members)) //nolint:gosec // as above
	h.members = append(h.members, member.(T))
}

func (h *heapOf[T]) Pop() any {
	last := len(h.members) - 1
	member := h.members[last]
	var none T
	h.members[last] = none
	h.members = h.members[:last]
	*h.place(member) = nowhere
	return member
}
