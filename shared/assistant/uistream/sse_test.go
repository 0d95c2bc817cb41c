package uistream_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// frames returns the frames of a UI message stream before [DONE], and the number of its comments. It fails if the
// stream has anything else.
func frames(t *testing.T, stream string) (all []map[string]any, comments int, done bool) {
	t.Helper()
	if strings.Contains(stream, "\r") {
		t.Errorf("the stream %q contains a line break that is not LF", stream)
	}
	for event := range strings.SplitAfterSeq(stream, "\n\n") {
		line, isWhole := strings.CutSuffix(event, "\n\n")
		data, isData := strings.CutPrefix(line, "data: ")
		switch {
		case event == "":
		case done:
			t.Errorf("got %q after [DONE], want the end", event)
		case !isWhole || strings.Contains(line, "\n"):
			t.Errorf("%q is not one line", event)
		case data == "[DONE]":
			done = true
		case isData:
			var frame map[string]any
			if err := json.Unmarshal([]byte(data), &frame); err != nil {
				t.Fatalf("the frame %q is not valid JSON: %v", data, err)
			}
			all = append(all, frame)
		case line == ": keep-alive":
			comments++
		default:
			t.Errorf("%q is neither a frame nor a comment", event)
		}
	}
	return all, comments, done
}
