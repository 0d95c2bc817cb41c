//go:build !race

package slicetest

// HasRaceDetector is false: the tests run without the race detector.
const HasRaceDetector = false
