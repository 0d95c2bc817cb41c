// Package clock is the only package that reads the system clock. All other packages receive a Clock, so that tests can
// set the time.
package clock

import (
	"fmt"
	"time"
)

// Clock returns the current time.
type Clock func() time.Time

// System is the Clock that returns the time of the system clock.
func System() time.Time { return time.Now() }

// layout is RFC 3339 in UTC with milliseconds.
const layout = "2006-01-02T15:04:05.000Z"

// Timestamp is a time in the format of the API and the tables: RFC 3339 in UTC with milliseconds, such as
// 2026-01-31T08:15:30.123Z. These strings sort chronologically. The zero Timestamp is the zero time.
type Timestamp time.Time

// Stamp returns t as a Timestamp. It truncates t to milliseconds.
func Stamp(t time.Time) Timestamp { return Timestamp(t.UTC().Truncate(time.Millisecond)) }

// ParseTimestamp parses a timestamp in the format that String returns. It returns an error for any other format.
func ParseTimestamp(s string) (Timestamp, error) {
	t, err := time.Parse(layout, s)
	if err != nil || Timestamp(t).String() != s { // time.Parse also accepts a comma as the decimal separator
		return Timestamp{}, fmt.Errorf("clock: %q is not a timestamp", s)
	}
	return Timestamp(t), nil
}

// Time returns the time in UTC.
func (t Timestamp) Time() time.Time { return time.Time(t) }

// IsZero reports whether t is the zero time.
func (t Timestamp) IsZero() bool { return time.Time(t).IsZero() }

// Equal reports whether t and u are the same time.
func (t Timestamp) Equal(u Timestamp) bool { return time.Time(t).Equal(time.Time(u)) }

// String returns the timestamp in RFC 3339 format, in UTC with milliseconds.
func (t Timestamp) String() string { return time.Time(t).UTC().Format(layout) }

// MarshalText implements encoding.TextMarshaler, which the encoders for JSON and for DynamoDB use.
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
