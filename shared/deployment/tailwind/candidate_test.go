package tailwind

import (
	"strings"
	"testing"

	"devplatform/infra/testmode"
)

// The time for long lines is linear. If it were quadratic, this test would not end before the limit of go test.
func TestLongLines(t *testing.T) {
	t.Parallel()
	size := 200_000
	if testmode.IsNightly() {
		size = 1 << 20
	}
	for _, part := range []string{"[", "[a", "[[1,2],", "[()", "[a:_", "@-[", "A", "<%", "a-[", "-[!"} {
		set := map[string]bool{}
		Candidates(set, "js", []byte("flex "+strings.Repeat(part, size/len(part))+" grid"))
		if !set["flex"] || !set["grid"] {
			t.Errorf("%s: the classes beside a long text are not found", part)
		}
	}
}

// A value that a template literal computes is not a class. Other dollar signs can be in a value.
func TestTemplateLiterals(t *testing.T) {
	t.Parallel()
	set := map[string]bool{}
	Candidates(set, "js", []byte("class=`w-[$5] h-[${x}]`"))
	if !set["w-[$5]"] || set["h-[${x}]"] {
		t.Errorf("got %v, want w-[$5], and not h-[${x}]", set)
	}
}
