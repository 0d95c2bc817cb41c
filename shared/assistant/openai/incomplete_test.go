package openai_test

import (
	"cmp"
	"strings"
	"testing"

	"devplatform/shared/assistant/model"
)

// Streams without a complete answer are errors, and are not retried.
func TestIncompleteAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer string
		fault  model.Fault // the default is model.Unavailable
		want   string      // a part of the error
	}{
		"empty stream":     {answer: "", want: "cut short"},
		"no finish reason": {answer: eventStream(helloChunk), want: "cut short"},
		"incomplete event": {answer: eventStream(helloChunk) + `data: {"choices":[{"del`, want: "cut short"},
		"[DONE] without a finish reason": {
			answer: eventStream(helloChunk, doneData),
			want:   "without a finish reason",
		},
		"empty finish reason":  {answer: eventStream(finishChunk(`{"content":"a"}`, ""), doneData), want: "cut short"},
		"not JSON":             {answer: eventStream(helloChunk, "I can't do that.", stopChunk), want: "cut short"},
		"choices are a string": {answer: eventStream(`{"choices":"I can't do that."}`), want: "cut short"},
		"refusal is a list": {
			answer: eventStream(`{"choices":[{"delta":{"refusal":["I can't do that."]},"index":0}]}`),
			want:   "cut short",
		},
		"input after the end of a call": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`),
				helloChunk,
				callsChunk(`{"index":0,"function":{"arguments":"1"}}`),
				stopChunk,
			),
			want: "has ended",
		},
		"aborted by the server": {
			answer: eventStream(helloChunk, finishChunk(`{}`, "abort"), doneData),
			want:   `"abort"`,
		},
		"filtered": {
			answer: eventStream(helloChunk, finishChunk(`{}`, "content_filter"), usageChunk, doneData),
			fault:  model.Refused,
			want:   "content_filter",
		},
		"refused": {
			answer: eventStream(
				deltaChunk(`{"refusal":"I can't "}`),
				deltaChunk(`{"refusal":"do that."}`),
				stopChunk,
				usageChunk,
				doneData,
			),
			fault: model.Refused,
			want:  "the model refused",
		},
		"refused, no finish reason": {
			answer: eventStream(deltaChunk(`{"refusal":"I can't do that."}`)),
			fault:  model.Refused,
			want:   "the model refused",
		},
		"error in the stream": {
			answer: eventStream(
				helloChunk,
				`{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}`,
			),
			want: "The server had an error",
		},
		"error whose code is a client error": {
			answer: eventStream(
				helloChunk,
				`{"error":{"message":"bad","type":"BadRequestError","code":400}}`,
				doneData,
			),
			fault: model.Misconfigured,
			want:  "status 400: bad",
		},
		"error whose code is a server error": {
			answer: eventStream(
				`{"error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`,
			),
			want: "Provider disconnected",
		},
		"error whose type is a request error": {
			answer: eventStream(`{"error":{"message":"unknown parameter","type":"invalid_request_error"}}`),
			fault:  model.Misconfigured,
			want:   "unknown parameter",
		},
		"too long": {
			answer: eventStream(
				`{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`,
			),
			fault: model.TooLong,
			want:  "exceeded",
		},
		"Ollama: error as text": {
			answer: eventStream(helloChunk, `{"error":"an error was encountered while running the model"}`),
			want:   "while running",
		},
		"error event": {answer: "event: error\ndata: I can't do that.\n\n", want: "no readable message"},
		"vLLM: error": {
			answer: eventStream(
				`{"object":"error","message":"maximum context length is 8","type":"BadRequestError","code":400}`,
			),
			fault: model.TooLong,
			want:  "is 8",
		},
		"error instead of a stream": {
			answer: `{"error":{"message":"Rate limit exceeded","code":429}}`,
			want:   "Rate limit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, respondText(tc.answer))
			_, outcome, err := generate(t, s, simpleRequest)
			checkFault(t, err, cmp.Or(tc.fault, model.Unavailable))
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the error %q does not contain %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "do that") {
				t.Errorf("the error %q quotes the model's output", err)
			}
			s.checkRequests(t, 1)
			if outcome.Stop != "" {
				t.Errorf("got the stop reason %q, want none", outcome.Stop)
			}
			if wantUsage := strings.Contains(tc.answer, usageChunk); wantUsage == outcome.Usage.IsZero() {
				t.Errorf("got the usage %+v, want a usage: %v", outcome.Usage, wantUsage)
			}
		})
	}
}
