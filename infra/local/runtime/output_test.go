package runtime

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Without run, only drain and close read, and they emit the lines before they return.
func TestOutputIsEmittedByLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var got []string
		o, writer, err := newOutput(func(line string) { got = append(got, line) })
		if err != nil {
			t.Fatal(err)
		}
		written := ""
		for _, piece := range rapid.SliceOfN(rapid.StringMatching(`[a-c\n]{0,12}`), 0, 8).Draw(t, "pieces") {
			if _, err := writer.WriteString(piece); err != nil {
				t.Fatal(err)
			}
			written += piece
			o.drain()
			if diff := cmp.Diff(written[:strings.LastIndexByte(written, '\n')+1], joined(got)); diff != "" {
				t.Fatalf("after a drain (-want +got):\n%s", diff)
			}
		}
		_ = writer.Close()
		o.close()
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
