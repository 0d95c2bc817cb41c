// Package faults injects faults into the services that the product uses, and checks its guarantees: storage, queues and
// secrets are throttled, slow, partly available or unavailable, and functions are killed during a request. The rest is
// real: the local platform runs as a process with the binaries of the functions, an HTTP client sends the requests, and
// the embedded AWS services are behind a server in which a test injects faults.
//
// Only tests that need all of this belong here. Tests of one failing call belong in the package that makes the call.
package faults
