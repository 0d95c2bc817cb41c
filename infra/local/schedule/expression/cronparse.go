package expression

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// field describes one of the six fields.
type field struct {
	name     string
	min, max int
	// names are the concatenated names of the values from min on, "" if there are none.
	names string
	// cyclic means that a range may end before it begins, such as 20-2 hours.
	cyclic bool
}

var (
	minuteField  = field{name: "minutes", min: 0, max: 59, cyclic: true}
	hourField    = field{name: "hours", min: 0, max: 23, cyclic: true}
	dateField    = field{name: "day-of-month", min: 1, max: 31, cyclic: true}
	monthField   = field{name: "month", min: 1, max: 12, names: "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", cyclic: true}
	weekdayField = field{name: "day-of-week", min: 1, max: 7, names: "SUNMONTUEWEDTHUFRISAT", cyclic: true}
	yearField    = field{name: "year", min: firstYear, max: lastYear}
)

func parseCron(text string, zone *time.Location) (*cron, error) {
	fields := strings.Fields(strings.ToUpper(text))
	if len(fields) != 6 {
		return nil, fmt.Errorf("cron has six fields (minutes hours day-of-month month day-of-week year), not %d", len(fields))
	}
	if (fields[2] == "?") == (fields[4] == "?") {
		return nil, errors.New("one of day-of-month and day-of-week must be ?")
	}
	c := &cron{zone: zone}
	err := errors.Join(
		minuteField.set(&c.minutes, fields[0]), hourField.set(&c.hours, fields[1]), monthField.set(&c.months, fields[3]),
		c.days.parseDates(fields[2]), c.days.parseWeekdays(fields[4]),
		yearField.each(fields[5], func(year int) { c.years[year-firstYear] = true }),
	)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// set parses a field into a set of bits.
func (f field) set(into *uint64, text string) error {
	return f.each(text, func(value int) { *into |= 1 << value })
}

func (f field) each(text string, add func(value int)) error {
	for _, element := range strings.Split(text, ",") {
		if err := f.element(element, add); err != nil {
			return err
		}
	}
	return nil
}

// element parses *, 5, 5-10, and each with a step: */5, 5/5 (from 5 to the end), 5-10/5.
func (f field) element(text string, add func(value int)) error {
	span, stepText, stepped := strings.Cut(text, "/")
	step := 1
	if stepped {
		var err error
		if step, err = strconv.Atoi(stepText); err != nil || step < 1 || step > f.size() || stepText[0] == '+' {
			return fmt.Errorf("%s: the step in %q must be a number from 1 to %d", f.name, text, f.size())
		}
	}
	low, high, ranged := strings.Cut(span, "-")
	from, to := f.min, f.max
	if span != "*" {
		var err error
		if from, err = f.value(low); err != nil {
			return err
		}
		switch {
		case ranged:
			if to, err = f.value(high); err != nil {
				return err
			}
		case !stepped:
			to = from
		}
	}
	if to < from {
		if !f.cyclic {
			return fmt.Errorf("%s: the range %q ends before it begins", f.name, span)
		}
		to += f.size()
	}
	for value := from; value <= to; value += step {
		add(f.min + (value-f.min)%f.size())
	}
	return nil
}

func (f field) size() int { return f.max - f.min + 1 }

// value parses a number or a name.
func (f field) value(text string) (int, error) {
	if at := strings.Index(f.names, text); len(text) == 3 && at >= 0 && at%3 == 0 {
		return f.min + at/3, nil
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < f.min || value > f.max || text[0] == '+' {
		names := ""
		if f.names != "" {
			names = fmt.Sprintf(" or %s to %s", f.names[:3], f.names[len(f.names)-3:])
		}
		return 0, fmt.Errorf("%s: %q is not a value from %d to %d%s", f.name, text, f.min, f.max, names)
	}
	return value, nil
}

// parseDates parses the day-of-month field. It may have the elements L (the last day), 15W (the nearest workday) and
// LW.
func (d *days) parseDates(text string) error {
	if text == "?" {
		return nil
	}
	for _, element := range strings.Split(text, ",") {
		number, workday := strings.CutSuffix(element, "W")
		switch {
		case element == "L":
			d.special = append(d.special, lastDay)
		case element == "LW":
			d.special = append(d.special, lastWorkday)
		case workday:
			day, err := dateField.value(number)
			if err != nil {
				return fmt.Errorf("workday %q: %w", element, err)
			}
			d.special = append(d.special, workdayNear(day))
		default:
			if err := dateField.set(&d.dates, element); err != nil {
				return err
			}
		}
	}
	return nil
}

// parseWeekdays parses the day-of-week field. It may have the elements L (Saturday), 6L (the last Friday of the month),
// and, as the only element, 6#3 (the third Friday of the month).
func (d *days) parseWeekdays(text string) error {
	if text == "?" {
		return nil
	}
	if strings.Contains(text, "#") {
		return d.parseNth(text)
	}
	var values uint64 // from 1, Sunday
	for _, element := range strings.Split(text, ",") {
		name, last := strings.CutSuffix(element, "L")
		if element == "L" {
			name, last = "SAT", false
		}
		if !last {
			if err := weekdayField.set(&values, name); err != nil {
				return err
			}
			continue
		}
		day, err := weekdayField.value(name)
		if err != nil {
			return fmt.Errorf("last weekday %q: %w", element, err)
		}
		d.special = append(d.special, lastOf(weekday(day)))
	}
	d.weekdays = values >> 1
	return nil
}

func (d *days) parseNth(text string) error {
	name, nth, _ := strings.Cut(text, "#")
	if strings.Contains(text, ",") {
		return fmt.Errorf("day-of-week: # can't be part of a list, as in %q", text)
	}
	day, err := weekdayField.value(name)
	if err != nil {
		return err
	}
	if len(nth) != 1 || nth < "1" || nth > "5" {
		return fmt.Errorf("day-of-week: the number after # in %q must be 1 to 5", text)
	}
	d.special = append(d.special, nthOf(weekday(day), int(nth[0]-'0')))
	return nil
}

// weekday converts AWS's number of a weekday, which begins at 1.
func weekday(day int) time.Weekday { return time.Weekday(day - 1) }
