//go:build !race

package testmode

// HasRaceDetector is false: the tests run without the race detector.
const HasRaceDetector = false
