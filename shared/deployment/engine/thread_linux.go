package engine

import (
	"time"

	"golang.org/x/sys/unix"
)

func threadID() int { return unix.Gettid() }

// threadTime returns the processor time of a thread. The number of its clock consists of its ID and of bits for the
// processor time of one thread (clock_getcpuclockid(3)).
func threadTime(id int) time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(int32(^id<<3|6), &t) //nolint:gosec // thread IDs are small
	return time.Duration(t.Nano())
}
