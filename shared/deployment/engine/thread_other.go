//go:build !linux

package engine

import "time"

func threadID() int { return 0 }

var processStart = time.Now()

// threadTime returns the time since the process began. Only the version for Linux measures the processor time of a
// thread.
func threadTime(int) time.Duration { return time.Since(processStart) }
