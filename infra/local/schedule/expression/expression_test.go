package expression_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/schedule/expression"
)

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// times returns the next n times, as RFC 3339 in UTC, or fewer if there are no more.
func times(e expression.Expression, after time.Time, n int) []string {
	var all []string
	for range n {
		next, more := e.Next(after)
		if !more {
			break
		}
		all = append(all, next.UTC().Format(time.RFC3339))
		after = next
	}
	return all
}

func TestNext(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text, zone, after string
		want              []string
	}{
		{"rate(1 minute)", "UTC", "2026-11-21T10:00:30Z", []string{"2026-11-21T10:01:30Z", "2026-11-21T10:02:30Z"}},
		{"rate(2 days)", "UTC", "2026-11-21T10:00:00Z", []string{"2026-11-23T10:00:00Z"}},

		// AWS's examples
		{"cron(0 10 * * ? *)", "UTC", "2026-11-21T10:00:00Z", []string{"2026-11-22T10:00:00Z"}},
		{"cron(15 12 * * ? *)", "UTC", "2026-11-21T10:00:00Z", []string{"2026-11-21T12:15:00Z"}},
		{"cron(0 18 ? * MON-FRI *)", "UTC", "2026-11-21T10:00:00Z", []string{"2026-11-23T18:00:00Z", "2026-11-24T18:00:00Z"}},
		{"cron(0 8 1 * ? *)", "UTC", "2026-11-21T10:00:00Z", []string{"2026-12-01T08:00:00Z", "2027-01-01T08:00:00Z"}},
		{"cron(0/15 * * * ? *)", "UTC", "2026-11-21T10:50:00Z", []string{"2026-11-21T11:00:00Z", "2026-11-21T11:15:00Z"}},
		{"cron(0/5 8-17 ? * MON-FRI *)", "UTC", "2026-11-23T17:55:00Z", []string{"2026-11-24T08:00:00Z"}},
		{"cron(0 9 ? * 2#1 *)", "UTC", "2026-11-21T10:00:00Z", []string{"2026-12-07T09:00:00Z", "2027-01-04T09:00:00Z"}},
		{
			"cron(0/30 20-2 ? * MON-FRI *)", "UTC", "2026-11-20T23:00:00Z", // a Friday
			[]string{"2026-11-20T23:30:00Z", "2026-11-23T00:00:00Z", "2026-11-23T00:30:00Z"},
		},
		{"cron(15 10 ? * 6L 2026-2027)", "UTC", "2026-12-01T00:00:00Z", []string{"2026-12-25T10:15:00Z", "2027-01-29T10:15:00Z"}},

		{"cron(0 0 L * ? *)", "UTC", "2028-01-31T00:00:00Z", []string{"2028-02-29T00:00:00Z", "2028-03-31T00:00:00Z"}},
		{"cron(0 0 LW * ? *)", "UTC", "2026-05-01T00:00:00Z", []string{"2026-05-29T00:00:00Z"}},                            // the 31st is a Sunday
		{"cron(0 0 1W * ? *)", "UTC", "2026-07-15T00:00:00Z", []string{"2026-08-03T00:00:00Z", "2026-09-01T00:00:00Z"}},    // 1 August is a Saturday
		{"cron(0 0 31W * ? *)", "UTC", "2026-04-30T00:00:00Z", []string{"2026-05-29T00:00:00Z", "2026-07-31T00:00:00Z"}},   // not in short months
		{"cron(0 0 15W,L * ? *)", "UTC", "2026-11-01T00:00:00Z", []string{"2026-11-16T00:00:00Z", "2026-11-30T00:00:00Z"}}, // 15 November is a Sunday
		{"cron(0 0 ? * L *)", "UTC", "2026-11-21T00:00:00Z", []string{"2026-11-28T00:00:00Z"}},
		{"cron(0 0 ? * TUEL,SUN *)", "UTC", "2026-11-21T00:00:00Z", []string{"2026-11-22T00:00:00Z", "2026-11-24T00:00:00Z", "2026-11-29T00:00:00Z"}},
		{"cron(0 0 ? * 6#5 *)", "UTC", "2026-11-01T00:00:00Z", []string{"2027-01-29T00:00:00Z"}}, // months with five Fridays
		{"cron(0 0 29 FEB ? *)", "UTC", "2026-11-21T00:00:00Z", []string{"2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"}},
		{"cron(0 0 29 2 ? *)", "UTC", "2096-03-01T00:00:00Z", []string{"2104-02-29T00:00:00Z"}}, // 2100 is not a leap year
		{"cron(0 0 ? jan,Dec sun-tue *)", "UTC", "2026-11-21T00:00:00Z", []string{"2026-12-01T00:00:00Z", "2026-12-06T00:00:00Z"}},
		{"cron(0 0 ? * FRI-MON *)", "UTC", "2026-11-23T00:00:00Z", []string{"2026-11-27T00:00:00Z"}},
		{"cron(0 0 30 2 ? *)", "UTC", "2026-11-21T00:00:00Z", nil},
		{"cron(0 0 1 1 ? 2020-2025)", "UTC", "2026-11-21T00:00:00Z", nil},
		{"cron(59 23 31 12 ? *)", "UTC", "2199-12-31T23:58:00Z", []string{"2199-12-31T23:59:00Z"}},
		{"cron(0 0 1 1 ? 1970/2)", "UTC", "1900-01-01T00:00:00Z", []string{"1970-01-01T00:00:00Z", "1972-01-01T00:00:00Z"}},

		// The documentation's example of daylight saving: skipped in spring, once in autumn, before the clocks change.
		{"cron(30 2 * * ? *)", "America/Los_Angeles", "2026-03-07T00:00:00Z", []string{"2026-03-07T10:30:00Z", "2026-03-09T09:30:00Z"}},
		{"cron(30 1 * * ? *)", "America/Los_Angeles", "2026-10-31T12:00:00Z", []string{"2026-11-01T08:30:00Z", "2026-11-02T09:30:00Z"}},
		{"cron(30 1 * * ? *)", "America/Los_Angeles", "2026-11-01T09:10:00Z", []string{"2026-11-02T09:30:00Z"}}, // in the second of the two hours
		{"cron(0/30 * * * ? *)", "Europe/London", "2026-10-25T00:30:00Z", []string{"2026-10-25T02:00:00Z"}},     // not in the repeated hour
		{"cron(0 0 * * ? *)", "America/Sao_Paulo", "2018-11-03T03:00:00Z", []string{"2018-11-05T02:00:00Z"}},    // a day without midnight
		{"cron(0 12 * * ? *)", "Pacific/Apia", "2011-12-29T23:00:00Z", []string{"2011-12-30T22:00:00Z"}},        // a day that was skipped
		{"cron(0 12 * * ? *)", "Australia/Lord_Howe", "2026-04-03T12:00:00Z", []string{"2026-04-04T01:00:00Z", "2026-04-05T01:30:00Z"}},
	} {
		t.Run(strings.ReplaceAll(test.text, "/", "|")+" "+test.after, func(t *testing.T) {
			t.Parallel()
			e, err := expression.Parse(test.text, zone(t, test.zone))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, times(e, moment(t, test.after), max(1, len(test.want)))); diff != "" {
				t.Errorf("times (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRatesCountFromTheirFirstTime(t *testing.T) {
	t.Parallel()
	e, err := expression.Parse("rate(10 minutes)", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	first := moment(t, "2026-11-21T10:03:07Z")
	e = e.From(first)
	for after, want := range map[string]string{
		"2026-11-01T00:00:00Z": "2026-11-21T10:03:07Z",
		"2026-11-21T10:03:06Z": "2026-11-21T10:03:07Z",
		"2026-11-21T10:03:07Z": "2026-11-21T10:13:07Z",
		"2026-11-21T10:13:06Z": "2026-11-21T10:13:07Z",
		"2027-11-21T10:00:00Z": "2027-11-21T10:03:07Z",
	} {
		if got := times(e, moment(t, after), 1)[0]; got != want {
			t.Errorf("after %s: %s, want %s", after, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want string
	}{
		{"every minute", "write rate(…) or cron(…)"},
		{"rate(1 minute", "write rate(…) or cron(…)"},
		{"Rate(1 minute)", `no "Rate"`},
		{"rate(0 minutes)", "above 0"},
		{"rate(1.5 hours)", "an integer above 0"},
		{"rate(+1 hours)", "an integer above 0"},
		{"rate(-1 hours)", "an integer above 0"},
		{"rate(5 weeks)", "minute, hour or day"},
		{"rate(5 seconds)", "minute, hour or day"},
		{"rate(5)", "a number and a unit"},
		{"rate(999999 days)", "hundred years"},
		{"cron(0 9 * * ?)", "six fields"},
		{"cron(0 0 9 * * ? *)", "six fields"},
		{"cron(0 9 * * * *)", "must be ?"},
		{"cron(0 9 1 * MON *)", "must be ?"},
		{"cron(0 9 ? * ? *)", "must be ?"},
		{"cron(60 9 * * ? *)", `minutes: "60" is not a value from 0 to 59`},
		{"cron(? 9 * * ? *)", `minutes: "?"`},
		{"cron(0 24 * * ? *)", `hours: "24"`},
		{"cron(0 -1 * * ? *)", `hours: ""`},
		{"cron(0 +1 * * ? *)", `hours: "+1"`},
		{"cron(0 9 0 * ? *)", `day-of-month: "0"`},
		{"cron(0 9 32W * ? *)", `day-of-month: "32"`},
		{"cron(0 9 W * ? *)", "workday"},
		{"cron(0 9 L-3 * ? *)", `day-of-month: "L"`},
		{"cron(0 9 * JANUARY ? *)", "JAN to DEC"},
		{"cron(0 9 * 13 ? *)", `month: "13"`},
		{"cron(0 9 ? * 0 *)", "1 to 7 or SUN to SAT"},
		{"cron(0 9 ? * 8 *)", "1 to 7 or SUN to SAT"},
		{"cron(0 9 ? * 8L *)", "last weekday"},
		{"cron(0 9 ? * ANF *)", `"ANF"`},
		{"cron(0 9 ? * 6#6 *)", "must be 1 to 5"},
		{"cron(0 9 ? * 6#0 *)", "must be 1 to 5"},
		{"cron(0 9 ? * #2 *)", `day-of-week: ""`},
		{"cron(0 9 ? * 3#1,6#3 *)", "part of a list"},
		{"cron(0 9 * * ? 1969)", "1970 to 2199"},
		{"cron(0 9 * * ? 2200)", "1970 to 2199"},
		{"cron(0 9 * * ? 2030-2020)", "ends before it begins"},
		{"cron(0/0 9 * * ? *)", "step"},
		{"cron(0/61 9 * * ? *)", "from 1 to 60"},
		{"cron(0/ 9 * * ? *)", "step"},
		{"cron(0/+5 9 * * ? *)", "step"},
		{"cron(1,,2 9 * * ? *)", `minutes: ""`},
		{"cron(99 99 * * ? *)", "hours"}, // each field that is not valid is named
	} {
		_, err := expression.Parse(test.text, zone(t, "America/New_York"))
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: error is %v, want one with %q", test.text, err, test.want)
		}
	}
}

func TestUnitsMayBeSingularOrPlural(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"rate(1 days)", "rate(1 day)", "rate(5 minutes)", "rate(2 hour)"} {
		e, err := expression.Parse(text, time.UTC)
		if err != nil || !e.Rate() {
			t.Errorf("%s: %v, %v", text, e, err)
		}
	}
}
