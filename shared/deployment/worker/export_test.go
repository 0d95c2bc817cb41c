package worker

import "time"

// SetBuildTime lowers the maximum duration of a build.
func (w *Worker) SetBuildTime(d time.Duration) { w.buildTime = d }
