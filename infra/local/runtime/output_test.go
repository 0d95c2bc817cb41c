package runtime

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestOutputIsEmittedByLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var got []string
		w := &lineWriter{emit: func(line string) { got = append(got, line) }}
		written := ""
		for _, piece := range rapid.SliceOfN(rapid.StringMatching(`[a-c\n]{0,12}`), 0, 8).Draw(t, "pieces") {
			if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
			written += piece
			if diff := cmp.Diff(written[:strings.LastIndexByte(written, '\n')+1], joined(got)); diff != "" {
				t.Fatalf("after a write (-want +got):\n%s", diff)
			}
		}
		w.close()
		if written != "" && !strings.HasSuffix(written, "\n") {
			written += "\n"
		}
		if diff := cmp.Diff(written, joined(got)); diff != "" {
			t.Fatalf("at the end (-want +got):\n%s", diff)
		}
	})
}

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
