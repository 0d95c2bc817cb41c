package prompt_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"devplatform/shared/assistant/prompt"
)

// FuzzMentioned checks that only existing files are returned, and each only once.
func FuzzMentioned(f *testing.F) {
	f.Add("fix `src/App.tsx` and “my file.md”", "/src/App.tsx\n/my file.md\n/README.md")
	f.Add("./a.go:12, (b.go) 'c d.go'", "/a.go\n/x/b.go\n/c d.go")
	f.Add("\"\"''``‘’“”«»„“「」", "/'\n/\"")
	f.Add("请看app.js。", "/app.js")
	f.Add("cafe\u0301.md \xff", "/café.md")
	f.Fuzz(func(t *testing.T, message, files string) {
		if len(message) > 20_000 || len(files) > 20_000 {
			return
		}
		var paths []string
		for line := range strings.SplitSeq(files, "\n") {
			if strings.HasPrefix(line, "/") && !slices.Contains(paths, line) && utf8.ValidString(line) {
				paths = append(paths, line)
			}
		}
		named := prompt.Mentioned(message, paths)
		for i, p := range named {
			if !slices.Contains(paths, p) || slices.Contains(named[:i], p) {
				t.Fatalf("the message %q: got %q, want paths from %q, each only once", message, named, paths)
			}
		}
	})
}
