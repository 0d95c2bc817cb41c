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
	for _, seed := range [][2]string{
		{"120", ""}, {"-1", ""}, {"9223372037", ""}, {"9223372036854775807", ""}, {"99999999999999999999", ""}, {"1e3", ""},
		{"Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 30 Jan 2026 13:25:30 GMT"}, {"Fri, 30 Jan 2026 13:25:33 GMT", "Fri, 30 Jan 2026 13:25:30 GMT"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, value, date string) {
		wait := retryAfter(http.Header{"Retry-After": {value}, "Date": {date}})
		if wait < 0 || wait > time.Hour {
			t.Fatalf("%q at %q: %s", value, date, wait)
		}
		at, err := http.ParseTime(value)
		now, unset := http.ParseTime(date)
		if err == nil && unset == nil && at.After(now) != (wait > 0) {
			t.Fatalf("%q at %q: %s", value, date, wait)
		}
		if value != "" && strings.Trim(value, "0123456789") == "" && strings.Trim(value, "0") != "" && wait == 0 {
			t.Fatalf("%q results in no wait", value)
		}
	})
}

// FuzzObject checks that any input of a tool becomes a JSON object.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, ` {"a":"\ud800"} `, `[]`, ``, `{"a":1,"a":2}`, `{"a":`, "{\"a\":\"\xff\"}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		object := objectOf(input)
		if !object.IsValid() || object.Kind() != '{' {
			t.Fatalf("%q became %q", input, object)
		}
		if again := objectOf(string(object)); string(again) != string(object) {
			t.Fatalf("%q became %q, then %q", input, object, again)
		}
	})
}

// FuzzCut checks that a cut text is short and valid UTF-8.
func FuzzCut(f *testing.F) {
	f.Add("x")
	f.Add(strings.Repeat("é", maxLogged))
	f.Add(strings.Repeat("\x80", 2*maxLogged))
	f.Fuzz(func(t *testing.T, text string) {
		short := cut(text)
		if !utf8.ValidString(short) || len(short) > maxLogged+len("…") || !strings.HasPrefix(strings.ToValidUTF8(text, "\uFFFD"), strings.TrimSuffix(short, "…")) {
			t.Fatalf("%q became %q", text, short)
		}
	})
}
