// Package clock is the one place that asks the machine what time it is.
// Everything else is handed a Clock, so that a test decides what "now" means.
// Calendars, schedules and back-off belong to the packages that need them.
package clock

import "time"

// Clock answers with the present moment. System is the real one; a test hands in its own.
type Clock func() time.Time

// System is the machine's clock.
func System() time.Time { return time.Now() }
