//go:build race

package testmode

// HasRaceDetector is true if the tests run with the race detector. It makes them several times as slow.
const HasRaceDetector = true
