package expression

import (
	"math/bits"
	"time"
)

// The years of cron expressions.
const (
	firstYear = 1970
	lastYear  = 2199
)

// cron is a parsed cron expression. The sets of values are bits.
type cron struct {
	zone                   *time.Location
	minutes, hours, months uint64
	days                   days
	years                  [lastYear - firstYear + 1]bool
}

// days are the days of a month, by their dates or by their weekdays.
type days struct {
	dates    uint64 // 1 to 31
	weekdays uint64 // 0 is Sunday
	special  []dayRule
}

// dayRule returns a day that depends on the month, 0 if the month has none.
type dayRule func(m month) int

// month is the number of days of a month and the weekday of its first day.
type month struct {
	length int
	first  time.Weekday
}

func monthOf(year int, m time.Month) month {
	first := time.Date(year, m, 1, 0, 0, 0, 0, time.UTC)
	return month{length: first.AddDate(0, 1, -1).Day(), first: first.Weekday()}
}

func (m month) weekday(day int) time.Weekday { return (m.first + time.Weekday(day-1)) % 7 }

// in returns the set of the days in a month.
func (d days) in(m month) (set uint64) {
	for day := 1; day <= m.length; day++ {
		if d.dates&(1<<day) != 0 || d.weekdays&(1<<m.weekday(day)) != 0 {
			set |= 1 << day
		}
	}
	for _, rule := range d.special {
		if day := rule(m); day > 0 {
			set |= 1 << day
		}
	}
	return set
}

// lastDay is L in day-of-month.
func lastDay(m month) int { return m.length }

// lastWorkday is LW.
func lastWorkday(m month) int { return workdayNear(m.length)(m) }

// workdayNear is 15W: the nearest day from Monday to Friday in the same month.
func workdayNear(day int) dayRule {
	return func(m month) int {
		switch {
		case day > m.length:
			return 0
		case m.weekday(day) == time.Saturday && day == 1:
			return 3
		case m.weekday(day) == time.Saturday:
			return day - 1
		case m.weekday(day) == time.Sunday && day == m.length:
			return day - 2
		case m.weekday(day) == time.Sunday:
			return day + 1
		}
		return day
	}
}

// lastOf is 6L: the last Friday of the month.
func lastOf(weekday time.Weekday) dayRule {
	return func(m month) int {
		return m.length - int(m.weekday(m.length)-weekday+7)%7
	}
}

// nthOf is 6#3: the third Friday of the month.
func nthOf(weekday time.Weekday, n int) dayRule {
	return func(m month) int {
		day := 1 + int(weekday-m.first+7)%7 + 7*(n-1)
		if day > m.length {
			return 0
		}
		return day
	}
}

// next returns the first time after the given time, or false if there is none.
func (c *cron) next(after time.Time) (time.Time, bool) {
	wall := after.In(c.zone)
	year, from := wall.Year(), wall.Month()
	if year < firstYear {
		year, from = firstYear, time.January
	}
	for ; year <= lastYear; year, from = year+1, time.January {
		if !c.years[year-firstYear] {
			continue
		}
		for m := from; m <= time.December; m++ {
			if c.months&(1<<m) == 0 {
				continue
			}
			if t, found := c.nextIn(year, m, after); found {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// nextIn searches one month. Because of the rules of timeOf, a later local time is a later time. So the first one found
// is the earliest.
func (c *cron) nextIn(year int, m time.Month, after time.Time) (time.Time, bool) {
	for day := range each(c.days.in(monthOf(year, m))) {
		if end := time.Date(year, m, day+2, 0, 0, 0, 0, c.zone); !end.After(after) {
			continue // the day has passed
		}
		for hour := range each(c.hours) {
			for minute := range each(c.minutes) {
				if t, exists := timeOf(c.zone, year, m, day, hour, minute); exists && t.After(after) {
					return t, true
				}
			}
		}
	}
	return time.Time{}, false
}

// each yields the members of a set in ascending order.
func each(set uint64) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for rest := set; rest != 0; rest &= rest - 1 {
			if !yield(bits.TrailingZeros64(rest)) {
				return
			}
		}
	}
}
