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

func TestReferences(t *testing.T) {
	t.Parallel()
	cases := []struct {
		text string
		want reference
		ok   bool
	}{
		{"f", reference{name: "f"}, true},
		{"f:$LATEST", reference{name: "f", qualifier: "$LATEST"}, true},
		{"f:live", reference{name: "f", qualifier: "live"}, true},
		{"123456789012:function:f:7", reference{account: "123456789012", name: "f", qualifier: "7"}, true},
		{"arn:aws:lambda:eu-west-1:123456789012:function:f", reference{region: "eu-west-1", account: "123456789012", name: "f"}, true},
		{"arn:aws-cn:lambda:cn-north-1:123456789012:function:f:b", reference{region: "cn-north-1", account: "123456789012", name: "f", qualifier: "b"}, true},
		{"", reference{}, false},
		{"a b", reference{}, false},
		{"arn:aws:s3:::bucket", reference{}, false},
		{strings.Repeat("x", 171), reference{}, false},
	}
	for _, c := range cases {
		if got, ok := parseReference(c.text); got != c.want || ok != c.ok {
			t.Errorf("%q: %+v, %v", c.text, got, ok)
		}
	}
}
