//go:build !race

package platformtest

// raceFlag is empty: the tests run without the race detector, and so do the processes that they start.
const raceFlag = ""
