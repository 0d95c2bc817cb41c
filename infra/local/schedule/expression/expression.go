// Package expression understands schedule expressions as EventBridge's rules and EventBridge Scheduler write them, and says when
// they fire: rate(5 minutes), cron(0 9 ? * MON-FRI *), at(2026-11-21T10:00:00). What is done when they fire doesn't belong here.
//
// The cron part is our own. Go's cron libraries speak Unix's dialect (five fields, Sunday is 0, no L, W, # or year); the one that
// speaks Quartz's, from which AWS's comes, lets expressions pass that AWS refuses (no ?, L-3, years to 3940), takes no list of
// days with L or W in it, and runs what falls into a repeated hour by another rule than AWS's.
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

// Dialect says who reads the expression.
type Dialect int

const (
	// Rule is a rule of EventBridge: rate and cron, and a unit that agrees with its number (1 minute, 5 minutes).
	Rule Dialect = iota
	// Scheduler is EventBridge Scheduler: at, too, and a unit in either number.
	Scheduler
)

// Expression is a schedule expression that was understood.
type Expression struct {
	first time.Time     // of a rate that counts from somewhere
	every time.Duration // of a rate
	once  time.Time     // of at
	cron  *cron
}

// Rate tells whether it is a rate, which has to begin somewhere: see [Expression.From].
func (e Expression) Rate() bool { return e.every > 0 }

// Once tells whether it is an at expression.
func (e Expression) Once() bool { return !e.once.IsZero() }

// From makes a rate fire at first, and then at every whole period after it. Other expressions know their times themselves.
func (e Expression) From(first time.Time) Expression {
	e.first = first.Round(0) // wall time: a machine that sleeps has no other that goes on
	return e
}

// Next is the first time after the one given at which the expression fires; false when there is none any more. A rate that
// counts from nowhere fires a period after the time given.
//
// Times of cron and at are the wall's of their zone. What falls into an hour that the clocks skip doesn't fire; what falls into
// one that they repeat fires once, the first time.
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

// Zone finds a time zone by its IANA name; "" is UTC.
func Zone(name string) (*time.Location, error) {
	if name == "Local" {
		return nil, errors.New("time zone: Local is Go's name for this machine's, not one of IANA's")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("time zone: %w", err)
	}
	return zone, nil
}

// Parse reads an expression. Times of cron and at are those of the zone. The error says in words what is wrong.
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
		err = fmt.Errorf("at is for schedules of EventBridge Scheduler (ScheduleV2), not for rules")
	default:
		err = fmt.Errorf("there is no %q: write rate(…), cron(…) or at(…)", kind)
	}
	if err != nil {
		return Expression{}, fmt.Errorf("schedule expression %q: %w", text, err)
	}
	return e, nil
}

var units = map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}

// maxRate keeps sums of times far from what a Duration can hold.
const maxRate = 100 * 365 * 24 * time.Hour

func parseRate(text string, dialect Dialect) (time.Duration, error) {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return 0, fmt.Errorf("a rate is a number and a unit, as in rate(5 minutes)")
	}
	value, err := strconv.Atoi(fields[0])
	if err != nil || value < 1 || fields[0][0] == '+' {
		return 0, fmt.Errorf("a rate's number is a whole one above 0, not %q", fields[0])
	}
	singular, plural := strings.CutSuffix(fields[1], "s")
	unit, known := units[singular]
	if !known {
		return 0, fmt.Errorf("a rate's unit is minute, hour or day (or minutes, hours, days), not %q", fields[1])
	}
	if dialect == Rule && plural != (value > 1) {
		return 0, fmt.Errorf("a rule's unit agrees with its number: 1 %s, 2 %[1]ss", singular)
	}
	if value > int(maxRate/unit) {
		return 0, fmt.Errorf("a rate of more than a hundred years")
	}
	return time.Duration(value) * unit, nil
}

func parseAt(text string, zone *time.Location) (time.Time, error) {
	const layout = "2006-01-02T15:04:05"
	wall, err := time.Parse(layout, text) // takes a fraction, too, which is cut off below
	if err != nil || len(text) != len(layout) {
		return time.Time{}, fmt.Errorf("a time is written yyyy-mm-ddThh:mm:ss without a zone, not %q", text)
	}
	year, month, day := wall.Date()
	t, exists := onWall(zone, year, month, day, wall.Hour(), wall.Minute(), wall.Second())
	if !exists {
		return time.Time{}, fmt.Errorf("there is no %s in %s: the clocks skip it", text, zone)
	}
	return t, nil
}

// onWall is the moment at which the clocks of a zone show a time, the first one where they show it twice; false when never.
func onWall(zone *time.Location, year int, month time.Month, day, hour, minute, second int) (time.Time, bool) {
	t := time.Date(year, month, day, hour, minute, second, 0, zone)
	if t.Day() != day || t.Hour() != hour || t.Minute() != minute {
		return t, false // time.Date makes something of every time
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
