package worker

import "time"

// SetBuildTime lowers the largest duration of a build.
func (w *Worker) SetBuildTime(d time.Duration) { w.limits.build = d }

// SetMaxSource lowers the largest size of a project that is built.
func (w *Worker) SetMaxSource(n int) { w.limits.source = n }
