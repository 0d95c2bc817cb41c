package openai_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/model"
)

// answerCase is an answer in a format of a server, and what the provider reads from it.
type answerCase struct {
	answer        string
	text          string
	calls         []model.Call
	sequence      string     // the default is "t" without calls, and only calls otherwise
	stop          model.Stop // the default is model.StopEnd without calls, and model.StopTools otherwise
	usage         model.Usage
	thinkingParts int
}

const randomID = "(random)" // any ID that the provider chose

// checkAnswers checks what the provider reads from the answers to a conversation that has a call with the ID "old".
func checkAnswers(t *testing.T, cases map[string]answerCase) {
	t.Helper()
	r := model.Request{Messages: []model.Message{
		{Role: model.User, Text: "Hi"},
		{Role: model.Assistant, Calls: []model.Call{{ID: "old", Name: "f", Input: "{}"}}},
		{Role: model.User, Results: []model.Result{{CallID: "old", Text: "done"}}},
	}}
	for name, tc := range cases {
		stop, sequence := model.StopEnd, "t"
		if len(tc.calls) > 0 {
			stop, sequence = model.StopTools, strings.Repeat("c", len(tc.calls))
		}
		if tc.stop != "" {
			stop = tc.stop
		}
		if tc.sequence != "" {
			sequence = tc.sequence
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
			if got.text != tc.text || got.sequence != sequence {
				t.Errorf("got the text %q and the sequence %q, want %q and %q", got.text, got.sequence, tc.text, sequence)
			}
			if diff := cmp.Diff(tc.calls, got.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if got.thinkingParts != tc.thinkingParts {
				t.Errorf("got %d thinking parts, want %d", got.thinkingParts, tc.thinkingParts)
			}
			if outcome.Stop != stop || outcome.Usage != tc.usage {
				t.Errorf("got the outcome %+v, want %q and the usage %+v", outcome, stop, tc.usage)
			}
			if strings.Contains(tc.answer, "m-1") && outcome.Model != "m-1" {
				t.Errorf("got the model %q, want m-1", outcome.Model)
			}
		})
	}
}

// Servers send texts and usage in many formats.
func TestAnswers(t *testing.T) {
	t.Parallel()
	checkAnswers(t, map[string]answerCase{
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
			usage: model.Usage{Input: 11, Output: 7},
		},
		"no usage": {answer: eventStream(helloChunk, stopChunk, doneData), text: "Hello"},
		"usage is null": {
			answer: eventStream(
				strings.Replace(helloChunk, `"choices"`, `"usage":null,"choices"`, 1),
				stopChunk,
				doneData,
			),
			text: "Hello",
		},
		"no [DONE]": {answer: eventStream(helloChunk, stopChunk), text: "Hello"},
		"no empty line at the end": {
			answer: strings.TrimRight(eventStream(helloChunk, stopChunk), "\n"),
			text:   "Hello",
		},
		"incomplete event after the finish reason": {
			answer: eventStream(helloChunk, stopChunk) + "data: {\"choi",
			text:   "Hello",
		},
		"error after the finish reason": {
			answer: eventStream(helloChunk, stopChunk, `{"error":{"message":"usage could not be counted"}}`),
			text:   "Hello",
		},
		"comments, other fields and CR LF": {
			answer: ": OPENROUTER PROCESSING\r\n\r\nid: 7\r\nevent: message\r\nretry: 10\r\n" +
				"data:" + helloChunk + "\r\n\r\n:\r\n\r\ndata:\r\n\r\ndata: " + stopChunk + "\r\n\r\n",
			text: "Hello",
		},
		"the name of an event without data": {
			answer: "event: error\n\n" + eventStream(helloChunk, stopChunk),
			text:   "Hello",
		},
		"event of several lines": {
			answer: "data: {\"choices\":[{\"delta\":{\"content\":\n" +
				"data: \"Hello\"},\n" +
				"data: \"finish_reason\":\"stop\"}]}\n\n",
			text: "Hello",
		},
		"error is null or empty": {
			answer: eventStream(
				strings.Replace(helloChunk, "{", `{"error":null,`, 1),
				strings.Replace(stopChunk, "{", `{"error":"",`, 1),
			),
			text: "Hello",
		},
		"all fields are null": {
			answer: eventStream(
				`{"model":null,"choices":null,"usage":null}`,
				`{"choices":[{"delta":null}]}`,
				deltaChunk(`{"content":null,"tool_calls":null,"refusal":null,"reasoning_content":null}`),
				helloChunk,
				stopChunk,
			),
			text: "Hello",
		},
		"reasoning is emitted without its text": {
			answer: eventStream(
				deltaChunk(`{"reasoning_content":"Hm"}`),
				deltaChunk(`{"reasoning":"Hm","content":""}`),
				deltaChunk(`{"thinking":{"a":1}}`),
				deltaChunk(`{"content":"Hello"}`),
				stopChunk,
			),
			text:          "Hello",
			thinkingParts: 2,
		},
		"other choices are ignored": {
			answer: eventStream(
				`{"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"},{"index":0,"delta":{"content":"yes"}}]}`,
				stopChunk,
			),
			text: "yes",
		},
		"invalid UTF-8": {
			answer: eventStream(
				deltaChunk(`{"content":"a`+"\xff"+`b"}`),
				deltaChunk(`{"content":"\ud83d"}`),
				stopChunk,
			),
			text: "a\ufffdb\ufffd",
		},
		"length": {
			answer: eventStream(helloChunk, finishChunk(`{}`, "length")),
			text:   "Hello",
			stop:   model.StopLength,
		},
		"unknown finish reason": {answer: eventStream(helloChunk, finishChunk(`{}`, "eos")), text: "Hello"},
		"empty finish reason": {
			answer: eventStream(finishChunk(`{"content":"Hel"}`, ""), finishChunk(`{"content":"lo"}`, "stop")),
			text:   "Hello",
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
			usage: model.Usage{Input: 100, Output: 5},
		},
		"DeepSeek: usage in each chunk": {
			answer: eventStream(
				strings.Replace(helloChunk, "{", `{"usage":{"prompt_tokens":9,"completion_tokens":1},`, 1),
				strings.Replace(stopChunk, "{", `{"usage":{"prompt_tokens":9.0,"completion_tokens":2,"prompt_cache_hit_tokens":4,"prompt_tokens_details":{"cached_tokens":0}},`, 1),
			),
			text:  "Hello",
			usage: model.Usage{Input: 9, Output: 2},
		},
		"invalid usage": {
			answer: eventStream(
				helloChunk,
				stopChunk,
				`{"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":1e300,"prompt_tokens_details":{"cached_tokens":60}}}`,
			),
			text:  "Hello",
			usage: model.Usage{Output: 1 << 31},
		},
		"tool_calls without a call": {
			answer: eventStream(helloChunk, finishChunk(`{}`, "tool_calls")),
			text:   "Hello",
		},
	})
}
