// Package expression parses the schedule expressions of EventBridge Scheduler and returns the times at which they fire:
// rate(5 minutes), cron(0 9 ? * MON-FRI *). It must not know what happens at these times. at expressions, which fire
// once, are not supported.
//
// No library parses AWS's cron expressions. Most have Unix's syntax (five fields, Sunday is 0, no L, W, # or year). The
// one for Quartz, from which AWS's syntax comes, accepts expressions that AWS rejects (no ?, L-3, years to 3940),
// rejects lists of days with L or W, and treats times in a repeated hour differently.
//
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html,
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
package expression

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Expression is a parsed schedule expression.
type Expression struct {
	first time.Time     // of a rate, set by From
	every time.Duration // of a rate
	cron  *cron
}

// Rate reports whether it is a rate: see [Expression.From].
func (e Expression) Rate() bool { return e.every > 0 }

// From returns a rate that fires at first, and then after each period. It has no effect on other expressions.
func (e Expression) From(first time.Time) Expression {
	e.first = first.Round(0) // the monotonic clock stands still while the machine sleeps
	return e
}

// Next returns the first time after the given time at which the expression fires, or false if there is none. A rate
// without From fires a period after the given time.
//
// cron is in the local time of its zone. A time in an hour that is skipped does not fire. A time in an hour that is
// repeated fires once, the first time.
func (e Expression) Next(after time.Time) (time.Time, bool) {
	after = after.Round(0)
	switch {
	case e.cron != nil:
		return e.cron.next(after)
	case e.first.IsZero():
		return after.Add(e.every), true
	case e.first.After(after):
		return e.first, true
	}
	return e.first.Add(after.Sub(e.first).Truncate(e.every) + e.every), true
}

// Zone returns a time zone by its IANA name. "" is UTC.
func Zone(name string) (*time.Location, error) {
	if name == "Local" {
		return nil, errors.New("time zone: Local is not an IANA name")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("time zone: %w", err)
	}
	return zone, nil
}

// Parse parses an expression. cron is in the local time of the zone.
func Parse(text string, zone *time.Location) (Expression, error) {
	kind, inner, found := strings.Cut(text, "(")
	inner, closed := strings.CutSuffix(inner, ")")
	if !found || !closed {
		return Expression{}, fmt.Errorf("schedule expression %q: write rate(…) or cron(…)", text)
	}
	var e Expression
	var err error
	switch kind {
	case "rate":
		e.every, err = parseRate(inner)
	case "cron":
		e.cron, err = parseCron(inner, zone)
	default:
		err = fmt.Errorf("there is no %q: write rate(…) or cron(…)", kind)
	}
	if err != nil {
		return Expression{}, fmt.Errorf("schedule expression %q: %w", text, err)
	}
	return e, nil
}

var units = map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}

// maxRate is far below the largest Duration.
const maxRate = 100 * 365 * 24 * time.Hour

func parseRate(text string) (time.Duration, error) {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return 0, fmt.Errorf("a rate is a number and a unit, such as rate(5 minutes)")
	}
	value, err := strconv.Atoi(fields[0])
	if err != nil || value < 1 || fields[0][0] == '+' {
		return 0, fmt.Errorf("the number of a rate must be an integer above 0, not %q", fields[0])
	}
	unit, known := units[strings.TrimSuffix(fields[1], "s")]
	if !known {
		return 0, fmt.Errorf("the unit of a rate must be minute, hour or day (or minutes, hours, days), not %q", fields[1])
	}
	if value > int(maxRate/unit) {
		return 0, fmt.Errorf("a rate must be at most a hundred years")
	}
	return time.Duration(value) * unit, nil
}

// timeOf returns the time at which the clocks of a zone show a local time, the first one if they show it twice. It
// returns false if they never do.
func timeOf(zone *time.Location, year int, month time.Month, day, hour, minute int) (time.Time, bool) {
	t := time.Date(year, month, day, hour, minute, 0, 0, zone)
	if t.Day() != day || t.Hour() != hour || t.Minute() != minute {
		return t, false // time.Date returns another time
	}
	start, _ := t.ZoneBounds()
	if start.IsZero() {
		return t, true
	}
	_, offset := t.Zone()
	_, before := start.Add(-time.Nanosecond).Zone()
	if earlier := t.Add(time.Duration(offset-before) * time.Second); earlier.Before(start) {
		return earlier, true
	}
	return t, true
}
