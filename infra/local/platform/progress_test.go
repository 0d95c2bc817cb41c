package platform

import (
	"log/slog"
	"strings"
	"testing"
)

// Lines of a build that are not packages are returned. A line that is too long ends them, but not the reading.
func TestLogProgress(t *testing.T) {
	t.Parallel()
	output := strings.NewReader("example/a\n# example/b\nb.go:1:1: broken\n" + strings.Repeat("x ", 1<<16) + "\nexample/c\n")
	b := newFunctions(Config{Logger: slog.New(slog.DiscardHandler)}, nil, nil)
	if got, want := b.logProgress(output), "# example/b\nb.go:1:1: broken"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if output.Len() > 0 {
		t.Errorf("%d bytes were not read", output.Len())
	}
}
