// Package webhook is subscriptions to events and what becomes of them: the endpoints of API.md §7, the fan-out of events to
// deliveries, the worker that attempts deliveries, and the job that brings back those whose time has come.
//
// The table is the truth, the queue a signal. A delivery is a record whose every transition is decided by a pure function and
// stored on the condition that nobody else has moved it meanwhile; as long as it is pending it stands in the index of what is
// due, at a time that is never before the end of its lease. Whatever is lost or dies on the way, the retry job finds it there.
//
// What is sent and how is known to the packages below this one: signature says what the headers of a delivery are, sender makes
// one attempt. Events themselves come from package event.
package webhook
