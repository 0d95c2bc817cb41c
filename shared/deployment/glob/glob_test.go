package glob

import (
	"strings"
	"testing"
)

// A pattern with many alternatives matches nothing. If it were tried, this test would not end before the limit of go
// test.
func TestMatch(t *testing.T) {
	t.Parallel()
	name := "/" + strings.Repeat("a", 200)
	for pattern, want := range map[string]bool{
		"/*": true, "/{b,a*}": true, "/{{b,c},a{a,b}*}": true, "/" + strings.Repeat("*a", 100): true,
		"/[": false, "/{a": false, "/b": false, `/\{a`: false,
		"/" + strings.Repeat("{a,a}", 60) + "b":                               false,
		"/" + strings.Repeat("{a,", 60) + "a" + strings.Repeat("}", 60) + "b": false,
		"/" + strings.Repeat("{", 100_000):                                    false,
		"/" + strings.Repeat("{a}", 10) + "*":                                 true,
	} {
		if got := Match(pattern, name); got != want {
			t.Errorf("%.50s: got %t, want %t", pattern, got, want)
		}
	}
}
