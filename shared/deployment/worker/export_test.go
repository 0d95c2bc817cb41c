package worker

import "time"

// SetBuildTime lowers the largest duration of a build.
func (w *Worker) SetBuildTime(d time.Duration) { w.limits.build = d }

// SetMaxSource lowers the largest size of a project that is built.
func (w *Worker) SetMaxSource(n int) { w.limits.source = n }

// SetLeaseCheck lowers the time between two checks of the lease.
func (w *Worker) SetLeaseCheck(d time.Duration) { w.limits.lease = d }

// SetSweepPage lowers the largest number of deployments that a sweep handles.
func (w *Worker) SetSweepPage(n int) { w.limits.sweep = n }
