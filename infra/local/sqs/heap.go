package sqs

import "container/heap"

// ordered is a heap whose members know their places in it, so that any member can be removed.
type ordered[T any] struct {
	members []T
	before  func(a, b T) bool
	place   func(T) *int32 // returns the field that has the place of a member
}

// notInHeap is the place of a value that is not in the heap.
const notInHeap = -1

func (o *ordered[T]) first() (member T, ok bool) {
	if len(o.members) == 0 {
		return member, false
	}
	return o.members[0], true
}

func (o *ordered[T]) add(member T) { heap.Push((*heapOf[T])(o), member) }

// moved restores the order after the rank of a member changed.
func (o *ordered[T]) moved(member T) { heap.Fix((*heapOf[T])(o), int(*o.place(member))) }

// remove removes a member if it is in the heap.
func (o *ordered[T]) remove(member T) {
	if place := *o.place(member); place != notInHeap {
		heap.Remove((*heapOf[T])(o), int(place))
	}
}

// heapOf implements heap.Interface.
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
