// Package faults breaks what the product stands on, and holds it to its promises: storage, queue and secrets that throttle, answer
// late, in part or not at all; functions that are killed in the middle of a request. Everything is real: the local platform as a
// process of its own, the functions' binaries, an HTTP client in front, and behind them AWS's services with a wire on which a test
// has things happen.
//
// Only tests belong here, and only those that need all of it. What one slice does about one failing call is tested in the slice, at
// every call that it makes.
package faults
