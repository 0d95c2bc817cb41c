package clock_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"devplatform/shared/clock"
)

func TestTimestampFormat(t *testing.T) {
	t.Parallel()
	cest := time.FixedZone("CEST", 2*60*60)
	for _, tc := range []struct {
		name string
		in   time.Time
		want string
	}{
		{"truncated, not rounded", time.Date(2026, 1, 31, 8, 15, 30, 123_999_999, time.UTC), "2026-01-31T08:15:30.123Z"},
		{"other zone", time.Date(2026, 1, 31, 10, 15, 30, 0, cest), "2026-01-31T08:15:30.000Z"},
		{"year of five digits", time.Date(10000, 1, 31, 8, 15, 30, 5_000_000, time.UTC), "10000-01-31T08:15:30.005Z"},
		{"trailing zeros", time.Date(2026, 1, 31, 8, 15, 30, 100_000_000, time.UTC), "2026-01-31T08:15:30.100Z"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			data, err := json.Marshal(struct {
				At clock.Timestamp `json:"at"`
			}{clock.Stamp(tc.in)})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := string(data), `{"at":"`+tc.want+`"}`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestTimestampRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := clock.Stamp(time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "ms")))
		var parsed clock.Timestamp
		err := parsed.UnmarshalText([]byte(at.String()))
		if err != nil || !parsed.Equal(at) || !parsed.Time().Equal(at.Time()) {
			t.Fatalf("got timestamp %s, %v, want %s", parsed, err, at)
		}
	})
}

func TestParseTimestampRejectsOtherForms(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "2026-01-31", "2026-01-31T08:15:30Z", "2026-01-31T08:15:30.1Z", "2026-01-31T08:15:30.123456Z",
		"2026-01-31T08:15:30.123+01:00", " 2026-01-31T08:15:30.123Z", "2026-02-30T08:15:30.123Z",
	} {
		if got, err := clock.ParseTimestamp(s); err == nil {
			t.Errorf("%q was parsed as %s", s, got)
		}
	}
}
