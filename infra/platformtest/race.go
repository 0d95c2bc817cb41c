//go:build race

package platformtest

// raceFlag builds the platform and the functions with the race detector when the tests themselves have it.
const raceFlag = "-race"
