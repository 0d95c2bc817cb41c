package expression_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"devplatform/infra/local/schedule/expression"
)

// written is a field as text, and a naive implementation of its meaning.
type written struct {
	text  string
	means func(wall time.Time) bool
}

// values generates a field of numbers with one or two elements.
func values(t *rapid.T, name string, low, high int, cyclic bool, of func(time.Time) int) written {
	var texts []string
	meant := map[int]bool{}
	for range rapid.IntRange(1, 2).Draw(t, name+"s") {
		from, to := rapid.IntRange(low, high).Draw(t, name), rapid.IntRange(low, high).Draw(t, name)
		if !cyclic && to < from {
			from, to = to, from
		}
		step := rapid.IntRange(1, high-low+1).Draw(t, name+" step")
		text, end := "", to
		switch rapid.SampledFrom([]string{"all", "all", "one", "range", "steps", "steps from", "steps in"}).Draw(t, name+" kind") {
		case "all":
			text, from, end, step = "*", low, high, 1
		case "one":
			text, end, step = strconv.Itoa(from), from, 1
		case "range":
			text, step = fmt.Sprintf("%d-%d", from, to), 1
		case "steps":
			text, from, end = fmt.Sprintf("*/%d", step), low, high
		case "steps from":
			text, end = fmt.Sprintf("%d/%d", from, step), high
		case "steps in":
			text = fmt.Sprintf("%d-%d/%d", from, to, step)
		}
		texts = append(texts, text)
		for value, taken := from, 0; ; value, taken = value+1, taken+1 {
			if value > high { // a cyclic range
				value = low
			}
			if taken%step == 0 {
				meant[value] = true
			}
			if value == end {
				break
			}
		}
	}
	return written{strings.Join(texts, ","), func(wall time.Time) bool { return meant[of(wall)] }}
}

func length(wall time.Time) int {
	return time.Date(wall.Year(), wall.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// workday returns the day from Monday to Friday that is nearest to a date.
func workday(wall time.Time, date int) bool {
	for distance := range 3 {
		for _, day := range []int{date - distance, date + distance} {
			weekday := time.Date(wall.Year(), wall.Month(), day, 0, 0, 0, 0, time.UTC).Weekday()
			if date <= length(wall) && day >= 1 && day <= length(wall) && weekday != time.Saturday && weekday != time.Sunday {
				return wall.Day() == day
			}
		}
	}
	return false
}

func dates(t *rapid.T) written {
	date := rapid.IntRange(1, 31).Draw(t, "date")
	switch rapid.IntRange(0, 5).Draw(t, "kind of date") {
	case 0:
		return written{"L", func(wall time.Time) bool { return wall.Day() == length(wall) }}
	case 1:
		return written{"LW", func(wall time.Time) bool { return workday(wall, length(wall)) }}
	case 2:
		return written{fmt.Sprintf("%dW", date), func(wall time.Time) bool { return workday(wall, date) }}
	case 3:
		return written{fmt.Sprintf("L,%d", date), func(wall time.Time) bool { return wall.Day() == length(wall) || wall.Day() == date }}
	}
	return values(t, "day-of-month", 1, 31, true, time.Time.Day)
}

func weekdays(t *rapid.T) written {
	number := func(wall time.Time) int { return int(wall.Weekday()) + 1 }
	day, nth := rapid.IntRange(1, 7).Draw(t, "weekday"), rapid.IntRange(1, 5).Draw(t, "nth")
	name := strings.ToUpper(time.Weekday(day - 1).String()[:3])
	switch rapid.IntRange(0, 5).Draw(t, "kind of weekday") {
	case 0:
		return written{"L", func(wall time.Time) bool { return wall.Weekday() == time.Saturday }}
	case 1:
		return written{name + "L", func(wall time.Time) bool { return number(wall) == day && wall.Day()+7 > length(wall) }}
	case 2:
		return written{fmt.Sprintf("%d#%d", day, nth), func(wall time.Time) bool { return number(wall) == day && (wall.Day()+6)/7 == nth }}
	case 3:
		return written{name, func(wall time.Time) bool { return number(wall) == day }}
	}
	return values(t, "day-of-week", 1, 7, true, number)
}

// TestCronMatchesABruteForceSearch compares Next with a search of every minute.
func TestCronMatchesABruteForceSearch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom([]string{
			"UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo", "Africa/Casablanca",
		}).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		days, other := dates(t), "?"
		fields := []string{days.text, other}
		if rapid.Bool().Draw(t, "by weekday") {
			days = weekdays(t)
			fields = []string{other, days.text}
		}
		minutes := values(t, "minutes", 0, 59, true, time.Time.Minute)
		hours := values(t, "hours", 0, 23, true, time.Time.Hour)
		months := values(t, "month", 1, 12, true, func(wall time.Time) int { return int(wall.Month()) })
		years := values(t, "year", 1970, 2199, false, time.Time.Year)
		text := fmt.Sprintf("cron(%s %s %s %s %s %s)", minutes.text, hours.text, fields[0], months.text, fields[1], years.text)
		e, err := expression.Parse(text, zone)
		if err != nil {
			t.Fatal(err)
		}

		after := time.Unix(rapid.Int64Range(946684800, 2524608000).Draw(t, "after"), 0)
		if _, change := after.In(zone).ZoneBounds(); !change.IsZero() && rapid.Bool().Draw(t, "near a change of the clocks") {
			after = change.Add(time.Duration(rapid.IntRange(-2000, 200).Draw(t, "minutes before")) * time.Minute)
		}
		const looked = 20 * 24 * time.Hour
		var want time.Time
		for at := after.Truncate(time.Minute).Add(time.Minute); at.Before(after.Add(looked)); at = at.Add(time.Minute) {
			wall := at.In(zone)
			if minutes.means(wall) && hours.means(wall) && days.means(wall) && months.means(wall) && years.means(wall) && !seenBefore(wall) {
				want = at
				break
			}
		}
		got, found := e.Next(after)
		switch {
		case !want.IsZero() && !got.Equal(want):
			t.Fatalf("%s in %s after %s: %s, want %s", text, zone, after.UTC(), got.UTC(), want.UTC())
		case want.IsZero() && found && got.Before(after.Add(looked)):
			t.Fatalf("%s in %s after %s: %s, want none so early", text, zone, after.UTC(), got.UTC())
		}
	})
}

// seenBefore reports whether this is the second time that the clocks show a local time.
func seenBefore(wall time.Time) bool {
	const layout = "2006-01-02T15:04"
	for back := time.Minute; back <= 3*time.Hour; back += time.Minute {
		if wall.Add(-back).Format(layout) == wall.Format(layout) {
			return true
		}
	}
	return false
}

// FuzzParse checks that Parse does not panic, and that the times of an expression increase.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"rate(5 minutes)", "rate(1 day)", "at(2026-11-21T10:00:00)", "cron(0 9 ? * MON-FRI *)", "cron(0/15 20-2 L,15W 2-4/2 ? 2026)",
		"cron(* * ? * 6#3 *)", "cron(0 0 30 2 ? *)", "cron(5,, 1 1 1 ? *)", "cron(0 0 ? JAN-MAR FRIL 2030/4)", "rate(99999999999 days)", "at()",
	} {
		f.Add(seed, int64(1_800_000_000))
	}
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		e, err := expression.Parse(text, zone)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("an error without words")
			}
			return
		}
		after := time.Unix(unix%10_000_000_000, 0)
		e = e.From(after.Add(time.Minute))
		next, more := e.Next(after)
		if !more {
			return
		}
		if !next.After(after) {
			t.Errorf("%s: %s is not after %s", text, next, after)
		}
		if again, _ := e.Next(next.Add(-time.Nanosecond)); !again.Equal(next) {
			t.Errorf("%s: %s from long before, %s from just before", text, next, again)
		}
	})
}
