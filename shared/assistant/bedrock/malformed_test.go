package bedrock

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"devplatform/infra/providertest"
	"devplatform/shared/assistant/model"
)

// If the stream is cut after the event messageStop, the answer is complete. If it is cut earlier, Generate returns an
// error.
func TestTruncatedStreams(t *testing.T) {
	t.Parallel()
	frames := [][]byte{
		messageStart(), textDelta(0, "Hello"), blockStop(0), toolStart(1, "t1", "a"), toolDelta(1, `{"a":1}`), blockStop(1),
		messageStop("tool_use"), metadata(1, 2, 0, 0),
	}
	stream := slices.Concat(frames...)
	endOfMessage := len(slices.Concat(frames[:7]...))
	for at := range len(stream) + 1 {
		isNearEnd := at > endOfMessage-3 && at < endOfMessage+3 || at > len(stream)-3
		if !isNearEnd && at%23 != 0 {
			continue // some of the other lengths are sufficient
		}
		for _, abort := range []bool{false, true} {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				writeFrames(w, stream[:at])
				if abort {
					panic(http.ErrAbortHandler)
				}
			})
			_, outcome, err := generate(t, s.provider(claude))
			if at >= endOfMessage {
				wantUsage := at == len(stream)
				if err != nil || outcome.Stop != model.StopTools || outcome.Usage.IsZero() == wantUsage {
					t.Errorf("cut after %d of %d bytes, abort %v: got outcome %+v and error %v, want a complete answer",
						at, len(stream), abort, outcome, err)
				}
				continue
			}
			failed := providertest.CheckFault(t, err, model.Unavailable)
			if failed.RetryAfter != 0 || outcome.Stop != "" || !strings.Contains(err.Error(), "ended before the message") {
				t.Errorf("cut after %d of %d bytes, abort %v: got outcome %+v and error %v, want an error",
					at, len(stream), abort, outcome, err)
			}
			isRetried, wantRetry := len(s.Requests()) > 1, at < len(frames[0])
			if isRetried != wantRetry {
				t.Errorf("cut after %d bytes: got a retry: %v, want %v", at, isRetried, wantRetry)
			}
		}
	}
}

func TestMalformedStreams(t *testing.T) {
	t.Parallel()
	for name, frames := range map[string][][]byte{
		"HTML":           {messageStart(), []byte("<html>the response of a proxy</html>")},
		"wrong checksum": {messageStart(), append(textDelta(0, "secret answer")[:40], make([]byte, 80)...)},
		"invalid JSON": {
			messageStart(), event("contentBlockDelta", `{"contentBlockIndex":0,"delta":["secret answer"`),
		},
		"delta that is a string": {
			messageStart(), event("contentBlockDelta", `{"contentBlockIndex":0,"delta":"secret answer"}`),
		},
		"input without a call":   {messageStart(), toolDelta(4, `"secret answer"`)},
		"call that starts twice": {messageStart(), toolStart(1, "a", "b"), toolStart(1, "c", "d")},
		"unknown message type":   {messageStart(), frame(`"secret answer"`, ":message-type", "unknown")},
		"no message type":        {messageStart(), frame(`"secret answer"`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveFrames(t, append(frames, messageStop("end_turn"))...)
			_, _, err := generate(t, s.provider(claude))
			if providertest.CheckFault(t, err, model.Unavailable); strings.Contains(err.Error(), "secret") {
				t.Errorf("the error %v quotes the answer", err)
			}
		})
	}
}

// Without usage, the answer is complete after Waits.Usage.
func TestMissingUsage(t *testing.T) {
	t.Parallel()
	disconnected := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		writeFrames(w, messageStart(), textDelta(0, "a"), messageStop("end_turn"))
		<-r.Context().Done() // the client closes the connection
		close(disconnected)
	})
	p := s.provider(claude)
	p.waits.Usage = time.Millisecond
	got, outcome, err := generate(t, p)
	if err != nil || got.Text != "a" || outcome.Stop != model.StopEnd || !outcome.Usage.IsZero() {
		t.Errorf("got answer %v, outcome %+v and error %v, want a complete answer without usage", got, outcome, err)
	}
	<-disconnected
}
