package workspace_test

import (
	"strings"
	"testing"

	"devplatform/shared/workspace"
)

func TestCheckName(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{
		"":                                 {"T", "  Team  ", "Équipe 项目 👩‍👩‍👧", strings.Repeat("项", 100), "a#b/c"},
		"must be 1 to 100 characters long": {"", strings.Repeat("x", 101), strings.Repeat("项", 101)},
		"must not be blank":                {" ", "\u00a0\u2003", "\u200b", strings.Repeat(" ", 100)},
		"must not contain invisible or direction-changing characters": {"a\u200bb", "\u202etxt", "a\u2028b", "\ufeffTeam"},
		"must not contain control characters":                         {"a\tb", "a\n", "\x7f", "a\u0085b", "\r\n"},
	} {
		for _, name := range names {
			if got := workspace.CheckName(name); got != want {
				t.Errorf("CheckName(%q) = %q, want %q", name, got, want)
			}
		}
	}
}
