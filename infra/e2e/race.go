//go:build race

package e2e

// raceFlag builds the platform and the functions with the race detector when the tests themselves have it.
const raceFlag = "-race"
