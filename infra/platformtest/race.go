//go:build race

package platformtest

// raceFlag makes go build use the race detector for the platform and the functions, because the tests use it, too.
const raceFlag = "-race"
