package openai_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/model"
)

// Servers send answers in many formats.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const randomID = "(random)" // any ID that the provider chose
	for name, tc := range map[string]struct {
		answer        string
		text          string
		calls         []model.Call
		sequence      string
		stop          model.Stop
		usage         model.Usage
		thinkingParts int
	}{
		"text": {
			answer: eventStream(
				deltaChunk(`{"role":"assistant","content":""}`),
				helloChunk,
				deltaChunk(`{"content":", you"}`),
				stopChunk,
				usageChunk,
				doneData,
			),
			text:  "Hello, you",
			stop:  model.StopEnd,
			usage: model.Usage{Input: 11, Output: 7},
		},
		"no usage": {
			answer: eventStream(helloChunk, stopChunk, doneData),
			text:   "Hello",
			stop:   model.StopEnd,
		},
		"usage is null": {
			answer: eventStream(
				strings.Replace(helloChunk, `"choices"`, `"usage":null,"choices"`, 1),
				stopChunk,
				doneData,
			),
			text: "Hello",
			stop: model.StopEnd,
		},
		"no [DONE]": {
			answer: eventStream(helloChunk, stopChunk),
			text:   "Hello",
			stop:   model.StopEnd,
		},
		"no empty line at the end": {
			answer: strings.TrimRight(eventStream(helloChunk, stopChunk), "\n"),
			text:   "Hello",
			stop:   model.StopEnd,
		},
		"incomplete event after the finish reason": {
			answer: eventStream(helloChunk, stopChunk) + "data: {\"choi",
			text:   "Hello",
			stop:   model.StopEnd,
		},
		"error after the finish reason": {
			answer: eventStream(helloChunk, stopChunk, `{"error":{"message":"usage could not be counted"}}`),
			text:   "Hello",
			stop:   model.StopEnd,
		},
		"comments, other fields and CR LF": {
			answer: ": OPENROUTER PROCESSING\r\n\r\nid: 7\r\nevent: message\r\nretry: 10\r\n" +
				"data:" + helloChunk + "\r\n\r\n:\r\n\r\ndata:\r\n\r\ndata: " + stopChunk + "\r\n\r\n",
			text: "Hello",
			stop: model.StopEnd,
		},
		"event of several lines": {
			answer: "data: {\"choices\":[{\"delta\":{\"content\":\n" +
				"data: \"Hello\"},\n" +
				"data: \"finish_reason\":\"stop\"}]}\n\n",
			text: "Hello",
			stop: model.StopEnd,
		},
		"error is null or empty": {
			answer: eventStream(
				strings.Replace(helloChunk, "{", `{"error":null,`, 1),
				strings.Replace(stopChunk, "{", `{"error":"",`, 1),
			),
			text: "Hello",
			stop: model.StopEnd,
		},
		"all fields are null": {
			answer: eventStream(
				`{"model":null,"choices":null,"usage":null}`,
				`{"choices":[{"delta":null}]}`,
				deltaChunk(`{"content":null,"tool_calls":null,"refusal":null,"function_call":null,"reasoning_content":null}`),
				helloChunk,
				stopChunk,
			),
			text: "Hello",
			stop: model.StopEnd,
		},
		"reasoning is emitted without its text": {
			answer: eventStream(
				deltaChunk(`{"reasoning_content":"Hm"}`),
				deltaChunk(`{"reasoning":"Hm","content":""}`),
				deltaChunk(`{"thinking":{"a":1}}`),
				deltaChunk(`{"content":[{"type":"thinking","text":"Hm","thinking":[{"type":"text","text":"Hm"}]},{"type":"text","text":"Hel"}]}`),
				deltaChunk(`{"content":"lo"}`),
				stopChunk,
			),
			text:          "Hello",
			stop:          model.StopEnd,
			thinkingParts: 3,
		},
		"other choices are ignored": {
			answer: eventStream(
				`{"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"},{"index":0,"delta":{"content":"yes"}}]}`,
				stopChunk,
			),
			text: "yes",
			stop: model.StopEnd,
		},
		"invalid UTF-8": {
			answer: eventStream(
				deltaChunk(`{"content":"a`+"\xff"+`b"}`),
				deltaChunk(`{"content":"\ud83d"}`),
				stopChunk,
			),
			text: "a\ufffdb\ufffd",
			stop: model.StopEnd,
		},
		"surrogate pairs in two deltas": {
			answer: eventStream(
				deltaChunk(`{"content":"a \ud83d"}`),
				deltaChunk(`{"content":""}`),
				deltaChunk(`{"content":"\uDE00 \\ud83d"}`),
				deltaChunk(`{"content":"b\uD83D"}`),
				deltaChunk(`{"content":"c"}`),
				finishChunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":\"\ud83d"}}]}`, ""),
				deltaChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"\ude00\"}"}}]}`),
				finishChunk(`{}`, "tool_calls"),
			),
			text:     "a \U0001F600 \\ud83db\ufffdc",
			calls:    []model.Call{{ID: "a", Name: "f", Input: "{\"x\":\"\U0001F600\"}"}},
			sequence: "tc",
			stop:     model.StopTools,
		},
		"length": {
			answer: eventStream(helloChunk, finishChunk(`{}`, "length")),
			text:   "Hello",
			stop:   model.StopLength,
		},
		"unknown finish reason": {
			answer: eventStream(helloChunk, finishChunk(`{}`, "eos")),
			text:   "Hello",
			stop:   model.StopEnd,
		},
		"empty finish reason": {
			answer: eventStream(finishChunk(`{"content":"Hel"}`, ""), finishChunk(`{"content":"lo"}`, "stop")),
			text:   "Hello",
			stop:   model.StopEnd,
		},
		"not streamed": {
			answer:   `{"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hello","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
			text:     "Hello",
			calls:    []model.Call{{ID: "a", Name: "f", Input: "{}"}},
			sequence: "tc",
			stop:     model.StopTools,
			usage:    model.Usage{Input: 1, Output: 2},
		},
		"chunk after the finish reason": {
			answer: eventStream(helloChunk, finishChunk(`{}`, "length"), deltaChunk(`{"content":""}`), doneData),
			text:   "Hello",
			stop:   model.StopLength,
		},
		"usage with a cache": {
			answer: eventStream(
				helloChunk,
				stopChunk,
				`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":30}}}`,
			),
			text:  "Hello",
			stop:  model.StopEnd,
			usage: model.Usage{Input: 100, Output: 5, CacheRead: 60, CacheWrite: 30},
		},
		"DeepSeek: usage in each chunk": {
			answer: eventStream(
				strings.Replace(helloChunk, "{", `{"usage":{"prompt_tokens":9,"completion_tokens":1},`, 1),
				strings.Replace(stopChunk, "{", `{"usage":{"prompt_tokens":9.0,"completion_tokens":2,"prompt_cache_hit_tokens":4,"prompt_tokens_details":{"cached_tokens":0}},`, 1),
			),
			text:  "Hello",
			stop:  model.StopEnd,
			usage: model.Usage{Input: 9, Output: 2, CacheRead: 4},
		},
		"invalid usage": {
			answer: eventStream(
				helloChunk,
				stopChunk,
				`{"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":1e300,"prompt_tokens_details":{"cached_tokens":60}}}`,
			),
			text:  "Hello",
			stop:  model.StopEnd,
			usage: model.Usage{Output: 1 << 31},
		},
		"OpenAI: call": {
			answer: eventStream(
				deltaChunk(`{"content":"So:"}`),
				callsChunk(`{"index":0,"id":"call_1","type":"function","function":{"name":"create_file","arguments":""}}`),
				callsChunk(`{"index":0,"function":{"arguments":"{\"path\""}}`),
				callsChunk(`{"index":0,"function":{"arguments":":\"/a\"}"}}`),
				finishChunk(`{}`, "tool_calls"),
				usageChunk,
				doneData,
			),
			text:     "So:",
			calls:    []model.Call{{ID: "call_1", Name: "create_file", Input: `{"path":"/a"}`}},
			sequence: "tc",
			stop:     model.StopTools,
			usage:    model.Usage{Input: 11, Output: 7},
		},
		"finish reason in the chunk with the last delta": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}`),
				finishChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`, "tool_calls"),
			),
			calls:    []model.Call{{ID: "a", Name: "f", Input: "{}"}},
			sequence: "c",
			stop:     model.StopTools,
		},
		"two calls, each followed by text": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":\"}\"}"}}`),
				deltaChunk(`{"content":"and"}`),
				callsChunk(`{"index":1,"id":"b","function":{"name":"g"}}`),
				callsChunk(`{"index":1,"function":{"arguments":"{}"}}`),
				deltaChunk(`{"content":" done"}`),
				finishChunk(`{}`, "stop"),
			),
			text:     "and done",
			calls:    []model.Call{{ID: "a", Name: "f", Input: `{"x":"}"}`}, {ID: "b", Name: "g", Input: "{}"}},
			sequence: "ctct",
			stop:     model.StopTools,
		},
		"overlapping calls": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}},{"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\""}}`),
				deltaChunk(`{"content":"between"}`),
				callsChunk(`{"index":1,"function":{"arguments":":2}"}}`),
				callsChunk(`{"index":0,"function":{"arguments":"1}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			text:     "between",
			calls:    []model.Call{{ID: "a", Name: "f", Input: `{"x":1}`}, {ID: "b", Name: "g", Input: `{"y":2}`}},
			sequence: "cct",
			stop:     model.StopTools,
		},
		"Ollama: whole calls, all with index 0": {
			answer: eventStream(
				deltaChunk(`{"role":"assistant","content":"","tool_calls":[{"id":"call_a","index":0,"type":"function","function":{"name":"f","arguments":"{\"n\":1}"}}]}`),
				callsChunk(`{"id":"call_b","index":0,"type":"function","function":{"name":"f","arguments":"{\"n\":2}"}}`),
				finishChunk(`{"content":""}`, "stop"),
				doneData,
			),
			calls:    []model.Call{{ID: "call_a", Name: "f", Input: `{"n":1}`}, {ID: "call_b", Name: "f", Input: `{"n":2}`}},
			sequence: "cc",
			stop:     model.StopTools,
		},
		"whole calls without IDs, with index 0": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"","function":{"name":"f","arguments":"{}"}}`),
				finishChunk(`{}`, "stop"),
			),
			calls:    []model.Call{{ID: randomID, Name: "f", Input: "{}"}, {ID: randomID, Name: "f", Input: "{}"}},
			sequence: "cc",
			stop:     model.StopTools,
		},
		"without index and ID, in pieces": {
			answer: eventStream(
				callsChunk(`{"function":{"name":"f","arguments":"{"}}`),
				callsChunk(`{"function":{"arguments":"}"}}`),
				callsChunk(`{"function":{"name":"g","arguments":"{}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls:    []model.Call{{ID: randomID, Name: "f", Input: "{}"}, {ID: randomID, Name: "g", Input: "{}"}},
			sequence: "cc",
			stop:     model.StopTools,
		},
		"without index, with ID": {
			answer: eventStream(
				callsChunk(`{"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`),
				callsChunk(`{"id":"b","function":{"name":"g","arguments":"{}"}}`),
				callsChunk(`{"id":"a","function":{"arguments":"1}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls:    []model.Call{{ID: "a", Name: "f", Input: `{"x":1}`}, {ID: "b", Name: "g", Input: "{}"}},
			sequence: "cc",
			stop:     model.StopTools,
		},
		"ID and name in each delta": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`),
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":":{}"}}`),
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}`),
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls:    []model.Call{{ID: "a", Name: "f", Input: `{"x":{}}`}},
			sequence: "c",
			stop:     model.StopTools,
		},
		"vLLM: another ID in each delta": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f"}}`),
				callsChunk(`{"index":0,"id":"b","function":{"name":null,"arguments":"{\"x\""}}`),
				callsChunk(`{"index":0,"id":"c","function":{"arguments":":1}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls:    []model.Call{{ID: "a", Name: "f", Input: `{"x":1}`}},
			sequence: "c",
			stop:     model.StopTools,
		},
		"same ID for all calls": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"f","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"f","function":{"name":"f","arguments":"{}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls:    []model.Call{{ID: "f", Name: "f", Input: "{}"}, {ID: randomID, Name: "f", Input: "{}"}},
			sequence: "cc",
			stop:     model.StopTools,
		},
		"name after the ID": {
			answer: eventStream(
				callsChunk(`{"index":1,"id":"a","function":{"arguments":"{"}}`),
				callsChunk(`{"index":1,"function":{"name":"f","arguments":"}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls:    []model.Call{{ID: "a", Name: "f", Input: "{}"}},
			sequence: "c",
			stop:     model.StopTools,
		},
		"no name": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"arguments":"{}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls:    []model.Call{{ID: "a", Input: "{}"}},
			sequence: "c",
			stop:     model.StopTools,
		},
		"arguments are not a string": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}}`),
				callsChunk(`{"index":1,"id":"b","function":{"name":"f","arguments":null}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls:    []model.Call{{ID: "a", Name: "f", Input: `{"x":1}`}, {ID: "b", Name: "f"}},
			sequence: "cc",
			stop:     model.StopTools,
		},
		"two objects in one call are not separated": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`),
				callsChunk(`{"index":0,"function":{"arguments":"{}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls:    []model.Call{{ID: "a", Name: "f", Input: "{}{}"}},
			sequence: "c",
			stop:     model.StopTools,
		},
		"call with incomplete JSON": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}}`),
				callsChunk(`{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls:    []model.Call{{ID: "a", Name: "f", Input: `{"x`}, {ID: "b", Name: "g", Input: "{}"}},
			sequence: "cc",
			stop:     model.StopTools,
		},
		"call cut by the limit": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}}`),
				finishChunk(`{}`, "length"),
			),
			calls:    []model.Call{{ID: "a", Name: "f", Input: `{"x`}},
			sequence: "c",
			stop:     model.StopLength,
		},
		"function_call, the predecessor of tool_calls": {
			answer: eventStream(
				deltaChunk(`{"function_call":{"name":"f","arguments":""}}`),
				deltaChunk(`{"function_call":{"arguments":"{}"}}`),
				finishChunk(`{}`, "function_call"),
			),
			calls:    []model.Call{{ID: randomID, Name: "f", Input: "{}"}},
			sequence: "c",
			stop:     model.StopTools,
		},
		"ID that the conversation already has": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"old","function":{"name":"f","arguments":"{}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls:    []model.Call{{ID: randomID, Name: "f", Input: "{}"}},
			sequence: "c",
			stop:     model.StopTools,
		},
		"tool_calls without a call": {
			answer: eventStream(helloChunk, finishChunk(`{}`, "tool_calls")),
			text:   "Hello",
			stop:   model.StopEnd,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := model.Request{Messages: []model.Message{
				{Role: model.User, Text: "Hi"},
				{Role: model.Assistant, Calls: []model.Call{{ID: "old", Name: "f", Input: "{}"}}},
				{Role: model.User, Results: []model.Result{{CallID: "old", Text: "done"}}},
			}}
			got, outcome, err := generate(t, serve(t, respondText(tc.answer)), r)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range tc.calls {
				if want.ID == randomID && i < len(got.calls) {
					if len(got.calls[i].ID) != 9 {
						t.Errorf("%q is not an ID that all servers accept", got.calls[i].ID)
					}
					got.calls[i].ID = randomID
				}
			}
			if tc.sequence == "" {
				tc.sequence = "t"
			}
			if got.text != tc.text || got.sequence != tc.sequence {
				t.Errorf("got the text %q and the sequence %q, want %q and %q", got.text, got.sequence, tc.text, tc.sequence)
			}
			if diff := cmp.Diff(tc.calls, got.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if got.thinkingParts != tc.thinkingParts {
				t.Errorf("got %d thinking parts, want %d", got.thinkingParts, tc.thinkingParts)
			}
			if outcome.Stop != tc.stop || outcome.Usage != tc.usage {
				t.Errorf("got the outcome %+v, want %q and the usage %+v", outcome, tc.stop, tc.usage)
			}
			if strings.Contains(tc.answer, "m-1") && outcome.Model != "m-1" {
				t.Errorf("got the model %q, want m-1", outcome.Model)
			}
		})
	}
}

// Streams without a complete answer are errors, and are not retried.
func TestIncompleteAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer string
		fault  model.Fault
		want   string // a part of the error
	}{
		"empty stream": {
			answer: "",
			fault:  model.Unavailable,
			want:   "cut short",
		},
		"no finish reason": {
			answer: eventStream(helloChunk),
			fault:  model.Unavailable,
			want:   "cut short",
		},
		"incomplete event": {
			answer: eventStream(helloChunk) + `data: {"choices":[{"del`,
			fault:  model.Unavailable,
			want:   "cut short",
		},
		"[DONE] without a finish reason": {
			answer: eventStream(helloChunk, doneData),
			fault:  model.Unavailable,
			want:   "without a finish reason",
		},
		"empty finish reason": {
			answer: eventStream(finishChunk(`{"content":"a"}`, ""), doneData),
			fault:  model.Unavailable,
			want:   "cut short",
		},
		"not JSON": {
			answer: eventStream(helloChunk, "I can't do that.", stopChunk),
			fault:  model.Unavailable,
			want:   "cut short",
		},
		"choices are a string": {
			answer: eventStream(`{"choices":"I can't do that."}`),
			fault:  model.Unavailable,
			want:   "cut short",
		},
		"refusal is a list": {
			answer: eventStream(`{"choices":[{"delta":{"refusal":["I can't do that."]},"index":0}]}`),
			fault:  model.Unavailable,
			want:   "cut short",
		},
		"input after the end of a call": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`),
				helloChunk,
				callsChunk(`{"index":0,"function":{"arguments":"1"}}`),
				stopChunk,
			),
			fault: model.Unavailable,
			want:  "has ended",
		},
		"aborted by the server": {
			answer: eventStream(helloChunk, finishChunk(`{}`, "abort"), doneData),
			fault:  model.Unavailable,
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
			fault: model.Unavailable,
			want:  "The server had an error",
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
			fault: model.Unavailable,
			want:  "Provider disconnected",
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
			fault:  model.Unavailable,
			want:   "while running",
		},
		"error event": {
			answer: "event: error\ndata: I can't do that.\n\n",
			fault:  model.Unavailable,
			want:   "no readable message",
		},
		"vLLM: error": {
			answer: eventStream(
				`{"object":"error","message":"maximum context length is 8","type":"BadRequestError","code":400}`,
			),
			fault: model.TooLong,
			want:  "is 8",
		},
		"error instead of a stream": {
			answer: `{"error":{"message":"Rate limit exceeded","code":429}}`,
			fault:  model.Unavailable,
			want:   "Rate limit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, respondText(tc.answer))
			_, outcome, err := generate(t, s, simpleRequest)
			checkFault(t, err, tc.fault)
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
