package bedrock

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzRetryAfter checks that the wait is within its bounds for any header.
func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"120", "-1", "9223372037", "9223372036854775807", "99999999999999999999", "1e3"} {
		f.Add(value, "")
	}
	const date = "Fri, 30 Jan 2026 13:25:30 GMT"
	f.Add("Fri, 31 Dec 9999 23:59:59 GMT", date)
	f.Add("Fri, 30 Jan 2026 13:25:33 GMT", date)
	f.Fuzz(func(t *testing.T, value, date string) {
		wait := retryAfter(http.Header{"Retry-After": {value}, "Date": {date}})
		if wait < 0 || wait > time.Hour {
			t.Fatalf("Retry-After %q, Date %q: got %s, want 0 to 1h", value, date, wait)
		}
		at, errAt := http.ParseTime(value)
		now, errNow := http.ParseTime(date)
		if errAt == nil && errNow == nil && at.After(now) != (wait > 0) {
			t.Fatalf("Retry-After %q, Date %q: got %s, want a wait only for a later date", value, date, wait)
		}
		isNumber := value != "" && strings.Trim(value, "0123456789") == ""
		if isNumber && strings.Trim(value, "0") != "" && wait == 0 {
			t.Fatalf("Retry-After %q: got no wait", value)
		}
	})
}

// FuzzObject checks that any input of a tool is converted to a JSON object.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, ` {"a":"\ud800"} `, `[]`, ``, `{"a":1,"a":2}`, `{"a":`, "{\"a\":\"\xff\"}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		object := objectOf(input)
		if !object.IsValid() || object.Kind() != '{' {
			t.Fatalf("%q is converted to %q, want an object", input, object)
		}
		if repeated := objectOf(string(object)); string(repeated) != string(object) {
			t.Fatalf("the object %q is converted to %q, want no change", object, repeated)
		}
	})
}

// FuzzLogged checks that the text of an error is short and valid UTF-8.
func FuzzLogged(f *testing.F) {
	f.Add("x")
	f.Add(strings.Repeat("é", maxLogged))
	f.Add(strings.Repeat("\x80", 2*maxLogged))
	f.Fuzz(func(t *testing.T, text string) {
		short := forLog(text)
		isPrefix := strings.HasPrefix(strings.ToValidUTF8(text, "\uFFFD"), strings.TrimSuffix(short, "…"))
		if !utf8.ValidString(short) || len(short) > maxLogged+len("…") || !isPrefix {
			t.Fatalf("%q is cut to %q", text, short)
		}
	})
}
