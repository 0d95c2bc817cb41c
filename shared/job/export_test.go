package job

import "time"

// SetLeaseCheck lowers the time between two checks of the lease.
func (w *Worker) SetLeaseCheck(d time.Duration) { w.checkLease = d }

// SetSweepPage lowers the maximum number of jobs that a sweep handles.
func (w *Worker) SetSweepPage(n int) { w.sweepPage = n }
