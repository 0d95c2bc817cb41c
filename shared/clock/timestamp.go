package clock

import (
	"fmt"
	"time"
)

// layout is RFC 3339 in UTC with exactly three digits of a second, as API.md §1 writes times.
const layout = "2006-01-02T15:04:05.000Z"

// Timestamp is a moment as the API and the tables write it: RFC 3339, UTC, milliseconds
// ("2026-01-31T08:15:30.123Z"). Such strings sort in the order of time.
// The zero Timestamp is the zero time.
type Timestamp time.Time

// Stamp cuts t down to the milliseconds that a Timestamp keeps.
func Stamp(t time.Time) Timestamp { return Timestamp(t.UTC().Truncate(time.Millisecond)) }

// ParseTimestamp reads what String wrote; any other form is an error.
func ParseTimestamp(s string) (Timestamp, error) {
	t, err := time.Parse(layout, s)
	if err != nil || Timestamp(t).String() != s { // it also takes a comma for the point
		return Timestamp{}, fmt.Errorf("clock: %q is not a timestamp", s)
	}
	return Timestamp(t), nil
}

// Time is the moment, in UTC.
func (t Timestamp) Time() time.Time { return time.Time(t) }

// IsZero reports whether t is the zero time.
func (t Timestamp) IsZero() bool { return time.Time(t).IsZero() }

// Equal reports whether both are the same moment.
func (t Timestamp) Equal(u Timestamp) bool { return time.Time(t).Equal(time.Time(u)) }

// String is the timestamp's one written form.
func (t Timestamp) String() string { return time.Time(t).UTC().Format(layout) }

// MarshalText implements encoding.TextMarshaler, by which JSON and the tables write it.
func (t Timestamp) MarshalText() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, layout), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Timestamp) UnmarshalText(text []byte) error {
	parsed, err := ParseTimestamp(string(text))
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}
