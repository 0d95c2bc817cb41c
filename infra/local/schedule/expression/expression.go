// Package expression parses the schedule expressions of EventBridge Scheduler and returns the times at which they fire:
// rate(5 minutes), cron(0 9 ? * MON-FRI *), at(2026-11-21T10:00:00). It must not know what happens at these times.
//
// No library parses AWS's cron expressions. Most have Unix's syntax (five fields, Sunday is 0, no L, W, # or year). The one for
// Quartz, from which AWS's syntax comes, accepts expressions that AWS rejects (no ?, L-3, years to 3940), rejects lists of days
// with L or W, and treats times in a repeated hour differently.
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

// Dialect is the service that runs the expression.
type Dialect int

const (
	// Rule is a rule of EventBridge: rate and cron, with a unit that agrees with its number (1 minute, 5 minutes).
	Rule Dialect = iota
	// Scheduler is EventBridge Scheduler: rate, cron and at.
	Scheduler
)

// Expression is a parsed schedule expression.
type Expression struct {
	first time.Time     // of a rate, set by From
	every time.Duration // of a rate
	once  time.Time     // of at
	cron  *cron
}

// Rate reports whether it is a rate: see [Expression.From].
func (e Expression) Rate() bool { return e.every > 0 }

// Once reports whether it is an at expression.
func (e Expression) Once() bool { return !e.once.IsZero() }

// From returns a rate that fires at first, and then after each period. It has no effect on other expressions.
func (e Expression) From(first time.Time) Expression {
	e.first = first.Round(0) // the monotonic clock stands still while the machine sleeps
	return e
}

// Next returns the first time after the given time at which the expression fires, or false if there is none. A rate without
// From fires a period after the given time.
//
// cron and at are in the local time of their zone. A time in an hour that is skipped does not fire. A time in an hour that is
// repeated fires once, the first time.
func (e Expression) Next(after time.Time) (time.Time, bool) {
	after = after.Round(0)
	switch {
	case e.cron != nil:
		return e.cron.next(after)
	case e.Once():
		return e.once, e.once.After(after)
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

// Parse parses an expression. cron and at are in the local time of the zone.
func Parse(text string, dialect Dialect, zone *time.Location) (Expression, error) {
	kind, inner, found := strings.Cut(text, "(")
	inner, closed := strings.CutSuffix(inner, ")")
	if !found || !closed {
		return Expression{}, fmt.Errorf("schedule expression %q: write rate(…), cron(…) or at(…)", text)
	}
	var e Expression
	var err error
	switch {
	case kind == "rate":
		e.every, err = parseRate(inner, dialect)
	case kind == "cron":
		e.cron, err = parseCron(inner, zone)
	case kind == "at" && dialect == Scheduler:
		e.once, err = parseAt(inner, zone)
	case kind == "at":
		err = fmt.Errorf("at is supported by EventBridge Scheduler (ScheduleV2) only")
	default:
		err = fmt.Errorf("there is no %q: write rate(…), cron(…) or at(…)", kind)
	}
	if err != nil {
		return Expression{}, fmt.Errorf("schedule expression %q: %w", text, err)
	}
	return e, nil
}

var units = map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}

// maxRate is far below the largest Duration.
const maxRate = 100 * 365 * 24 * time.Hour

func parseRate(text string, dialect Dialect) (time.Duration, error) {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return 0, fmt.Errorf("a rate is a number and a unit, such as rate(5 minutes)")
	}
	value, err := strconv.Atoi(fields[0])
	if err != nil || value < 1 || fields[0][0] == '+' {
		return 0, fmt.Errorf("the number of a rate must be an integer above 0, not %q", fields[0])
	}
	singular, plural := strings.CutSuffix(fields[1], "s")
	unit, known := units[singular]
	if !known {
		return 0, fmt.Errorf("the unit of a rate must be minute, hour or day (or minutes, hours, days), not %q", fields[1])
	}
	if dialect == Rule && plural != (value > 1) {
		return 0, fmt.Errorf("a rule's unit agrees with its number: 1 %s, 2 %[1]ss", singular)
	}
	if value > int(maxRate/unit) {
		return 0, fmt.Errorf("a rate must be at most a hundred years")
	}
	return time.Duration(value) * unit, nil
}

func parseAt(text string, zone *time.Location) (time.Time, error) {
	const layout = "2006-01-02T15:04:05"
	wall, err := time.Parse(layout, text) // accepts a fraction, too, which the length below excludes
	if err != nil || len(text) != len(layout) {
		return time.Time{}, fmt.Errorf("write the time as yyyy-mm-ddThh:mm:ss without a zone, not as %q", text)
	}
	year, month, day := wall.Date()
	t, exists := onWall(zone, year, month, day, wall.Hour(), wall.Minute(), wall.Second())
	if !exists {
		return time.Time{}, fmt.Errorf("%s does not exist in %s: the clocks skip it", text, zone)
	}
	return t, nil
}

// onWall returns the time at which the clocks of a zone show a local time, the first one if they show it twice. It returns
// false if they never do.
func onWall(zone *time.Location, year int, month time.Month, day, hour, minute, second int) (time.Time, bool) {
	t := time.Date(year, month, day, hour, minute, second, 0, zone)
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
