//go:build !race

package platformtest

// raceFlag is empty: the tests run without the race detector, and so does what they start.
const raceFlag = ""
