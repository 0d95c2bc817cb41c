// Package retryafter reads the Retry-After header of HTTP responses. The caller decides whether to wait that long.
package retryafter

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Max is the longest wait that Parse returns. A wait of more than 292 years would overflow time.Duration.
const Max = 365 * 24 * time.Hour

// Parse returns the wait that the value of a Retry-After header asks for, from 0 to Max. The value is a number of
// seconds or an HTTP date (RFC 9110 §10.2.3). now is the time from which a date is measured, such as the value of
// the response's Date header. If now is the zero time, dates are not valid. Parse returns 0 and false if the value is
// not valid.
func Parse(value string, now time.Time) (time.Duration, bool) {
	if value == "" {
		return 0, false
	}
	if strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > int64(Max/time.Second) { // the only possible error is a value out of range
			return Max, true
		}
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(value)
	if err != nil || now.IsZero() {
		return 0, false
	}
	return min(max(0, at.Sub(now)), Max), true
}
