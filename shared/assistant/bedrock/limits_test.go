package bedrock

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"devplatform/shared/assistant/model"
)

// Pieces that wait for the end of an earlier call are limited, and so are IDs and names.
func TestAnswersThatAreTooLarge(t *testing.T) {
	t.Parallel()
	mebibyte := strings.Repeat("x", 1<<20)
	var calls [][]byte
	for i := range maxPieces + 1 {
		calls = append(calls, toolStart(i, "t", "n"))
	}
	for name, frames := range map[string][][]byte{
		"text during a call":     append([][]byte{toolStart(0, "t", "n")}, repeated(textDelta(1, mebibyte), 5)...),
		"input of a second call": append(calls[:2:2], repeated(toolDelta(1, mebibyte), 5)...),
		"calls":                  calls,
		"ID":                     {toolStart(0, strings.Repeat("t", maxName+1), "n")},
		"name":                   {toolStart(0, "t", strings.Repeat("n", maxName+1))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveFrames(t, slices.Concat([][]byte{messageStart()}, frames, [][]byte{messageStop("end_turn")})...)
			_, _, err := generate(t, s.provider(claude))
			checkFault(t, err, model.Unavailable)
		})
	}
}

// The queue counts only what waits in it: a long answer is not too large.
func TestLongAnswer(t *testing.T) {
	t.Parallel()
	mebibyte := strings.Repeat("x", 1<<20)
	s := serveFrames(t, slices.Concat(
		repeated(textDelta(0, mebibyte), 3), [][]byte{toolStart(1, "t", "n")}, repeated(toolDelta(1, mebibyte), 3),
		[][]byte{blockStop(1), messageStop("tool_use"), metadata(1, 1, 0, 0)})...)
	got, _, err := generate(t, s.provider(claude))
	if err != nil || len(got.text) != 3<<20 || len(got.calls) != 1 || len(got.calls[0].Input) != 3<<20 {
		t.Errorf("got a text of %d bytes, %d calls and error %v, want the whole answer", len(got.text), len(got.calls), err)
	}
}

func TestResponsesThatAreTooLarge(t *testing.T) {
	t.Parallel()
	// The server sends more than the client and its connection accept, and fails if the client reads all.
	const sent = maxResponse + 32<<20
	for name, tc := range map[string]struct {
		task   model.Task
		status int
		fault  model.Fault
	}{
		"whole answer":      {model.TaskSummarize, http.StatusOK, model.Unavailable},
		"error":             {model.TaskSummarize, http.StatusInternalServerError, model.Unavailable},
		"error of a stream": {model.TaskChat, http.StatusBadRequest, model.Misconfigured},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.WriteHeader(tc.status)
				if n, err := w.Write(bytes.Repeat([]byte(" "), sent)); err == nil {
					t.Errorf("the client read %d bytes", n)
				}
			})
			p := s.provider(claude)
			p.window = 0 // one attempt
			request := chatRequest()
			request.Task = tc.task
			_, _, err := generateFor(t.Context(), t, p, request)
			checkFault(t, err, tc.fault)
		})
	}
}

// repeated returns n frames.
func repeated(frame []byte, n int) [][]byte { return slices.Repeat([][]byte{frame}, n) }
