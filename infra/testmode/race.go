//go:build race

package testmode

// HasRaceDetector is true: the tests run with the race detector, which makes them several times as slow.
const HasRaceDetector = true
