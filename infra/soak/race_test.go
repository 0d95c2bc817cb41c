//go:build race

package soak

// memoryOfConnection is what a connection at rest may cost the platform; the race detector has a shadow of all memory.
const memoryOfConnection = 1 << 20
