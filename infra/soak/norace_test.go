//go:build !race

package soak

// memoryOfConnection is what a connection at rest may cost the platform.
const memoryOfConnection = 100 << 10
