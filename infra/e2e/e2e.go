// Package e2e tests the whole product as its users use it: HTTP clients send requests to the local platform, which is a
// separate process and runs the binaries of the functions. Behavior that a single package can test is tested there.
package e2e
