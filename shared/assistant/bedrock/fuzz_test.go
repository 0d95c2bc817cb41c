package bedrock

import (
	"bytes"
	"net/http"
	"slices"
	"testing"
)

// FuzzStream checks that an answer is complete only if the stream contains the event messageStop.
func FuzzStream(f *testing.F) {
	f.Add([]byte{})
	f.Add(slices.Concat(
		messageStart(), textDelta(0, "a"), toolStart(1, "t", "n"), toolDelta(1, "{}"), blockStop(1),
		messageStop("tool_use"), metadata(1, 2, 3, 4)))
	f.Add(slices.Concat(messageStart(), exception("throttlingException", "a")))
	f.Add(slices.Concat(textDelta(0, "a"), frame("", ":message-type", "error")))
	f.Add(event("messageStop", `{}`))
	f.Add(slices.Concat(
		event("contentBlockDelta", `{"delta":null}`), event("metadata", `{"usage":null}`), messageStop("end_turn")))
	f.Fuzz(func(t *testing.T, stream []byte) {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { writeFrames(w, stream) })
		_, outcome, err := generate(t, s.provider(claude))
		if err == nil && (outcome.Stop == "" || !bytes.Contains(stream, []byte("messageStop"))) {
			t.Errorf("got a complete answer with the outcome %+v, want an error", outcome)
		}
	})
}
