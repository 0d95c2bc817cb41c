package invisible_test

import (
	"testing"

	"devplatform/shared/invisible"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, valid := range []string{"", "Café 项目", "👩‍💻", "می\u200cخواهم", "a b", "\u00a0", "\u0600"} {
		if rule := invisible.Check(valid); rule != "" {
			t.Errorf("Check(%q) = %q, want \"\"", valid, rule)
		}
	}
	for _, r := range []rune{
		'\u00ad', '\u061c', '\u180e', '\u200b', '\u200e', '\u200f', '\u2028', '\u2029', '\u202a', '\u202e', '\u2060',
		'\u2066', '\u2069', '\ufeff', '\U000e0041', '\U000e007f', '\u3164', '\u115f', '\uffa0', '\u034f',
	} {
		if rule := invisible.Check("a" + string(r) + "b"); rule == "" {
			t.Errorf("Check accepts %U", r)
		}
	}
}
