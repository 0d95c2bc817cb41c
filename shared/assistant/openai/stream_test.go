package openai_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/model"
)

// TestAnswers has the formats in which servers send answers.
func TestAnswers(t *testing.T) {
	t.Parallel()
	type call = model.Call
	const anID = "(ours)"
	for name, tc := range map[string]struct {
		answer   string
		text     string
		calls    []call
		sequence string
		stop     model.Stop
		usage    model.Usage
		thoughts int
	}{
		"text": {
			answer: events(say(`{"role":"assistant","content":""}`), hello, say(`{"content":", you"}`), stop, someUsage, done),
			text:   "Hello, you", stop: model.StopEnd, usage: model.Usage{Input: 11, Output: 7},
		},
		"no usage":              {answer: events(hello, stop, done), text: "Hello", stop: model.StopEnd},
		"usage is null":         {answer: events(strings.Replace(hello, `"choices"`, `"usage":null,"choices"`, 1), stop, done), text: "Hello", stop: model.StopEnd},
		"no [DONE]":             {answer: events(hello, stop), text: "Hello", stop: model.StopEnd},
		"no empty line at last": {answer: strings.TrimRight(events(hello, stop), "\n"), text: "Hello", stop: model.StopEnd},
		"torn after its end":    {answer: events(hello, stop) + "data: {\"choi", text: "Hello", stop: model.StopEnd},
		"an error after its end": {
			answer: events(hello, stop, `{"error":{"message":"usage could not be counted"}}`), text: "Hello", stop: model.StopEnd,
		},
		"comments, other fields, CRLF, no space": {
			answer: ": OPENROUTER PROCESSING\r\n\r\nid: 7\r\nevent: message\r\nretry: 10\r\ndata:" + hello + "\r\n\r\n:\r\n\r\ndata:\r\n\r\ndata: " + stop + "\r\n\r\n",
			text:   "Hello", stop: model.StopEnd,
		},
		"an event of several lines": {answer: "data: {\"choices\":[{\"delta\":{\"content\":\ndata: \"Hello\"},\n" + "data: \"finish_reason\":\"stop\"}]}\n\n", text: "Hello", stop: model.StopEnd},
		"error is null or empty": {
			answer: events(strings.Replace(hello, "{", `{"error":null,`, 1), strings.Replace(stop, "{", `{"error":"",`, 1)), text: "Hello", stop: model.StopEnd,
		},
		"null everywhere": {
			answer: events(`{"model":null,"choices":null,"usage":null}`, `{"choices":[{"delta":null}]}`,
				say(`{"content":null,"tool_calls":null,"refusal":null,"function_call":null,"reasoning_content":null}`), hello, stop), text: "Hello", stop: model.StopEnd,
		},
		"reasoning is emitted without content": {
			thoughts: 3,
			answer: events(say(`{"reasoning_content":"Hm"}`), say(`{"reasoning":"Hm","content":""}`), say(`{"thinking":{"a":1}}`),
				say(`{"content":[{"type":"thinking","text":"Hm","thinking":[{"type":"text","text":"Hm"}]},{"type":"text","text":"Hel"}]}`), say(`{"content":"lo"}`), stop),
			text: "Hello", stop: model.StopEnd,
		},
		"other choices are skipped": {answer: events(`{"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"},{"index":0,"delta":{"content":"yes"}}]}`, stop), text: "yes", stop: model.StopEnd},
		"invalid UTF-8":             {answer: events(say(`{"content":"a`+"\xff"+`b"}`), say(`{"content":"\ud83d"}`), stop), text: "a\ufffdb\ufffd", stop: model.StopEnd},
		"length":                    {answer: events(hello, finish(`{}`, "length")), text: "Hello", stop: model.StopLength},
		"unknown finish reason":     {answer: events(hello, finish(`{}`, "eos")), text: "Hello", stop: model.StopEnd},
		"empty finish reason":       {answer: events(finish(`{"content":"Hel"}`, ""), finish(`{"content":"lo"}`, "stop")), text: "Hello", stop: model.StopEnd},
		"not streamed": {
			answer: `{"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hello","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
			text:   "Hello", calls: []call{{ID: "a", Name: "f", Input: "{}"}}, sequence: "tc", stop: model.StopTools, usage: model.Usage{Input: 1, Output: 2},
		},
		"a chunk after the end": {answer: events(hello, finish(`{}`, "length"), say(`{"content":""}`), done), text: "Hello", stop: model.StopLength},
		"usage with a cache": {
			answer: events(hello, stop, `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":30}}}`),
			text:   "Hello", stop: model.StopEnd, usage: model.Usage{Input: 100, Output: 5, CacheRead: 60, CacheWrite: 30},
		},
		"usage in each chunk, DeepSeek's cache": {
			answer: events(strings.Replace(hello, "{", `{"usage":{"prompt_tokens":9,"completion_tokens":1},`, 1),
				strings.Replace(stop, "{", `{"usage":{"prompt_tokens":9.0,"completion_tokens":2,"prompt_cache_hit_tokens":4,"prompt_tokens_details":{"cached_tokens":0}},`, 1)),
			text: "Hello", stop: model.StopEnd, usage: model.Usage{Input: 9, Output: 2, CacheRead: 4},
		},
		"impossible usage": {
			answer: events(hello, stop, `{"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":1e300,"prompt_tokens_details":{"cached_tokens":60}}}`),
			text:   "Hello", stop: model.StopEnd, usage: model.Usage{Output: 1 << 31},
		},
		"a call, as OpenAI streams it": {
			answer: events(say(`{"content":"So:"}`), say(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"create_file","arguments":""}}]}`),
				say(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\""}}]}`), say(`{"tool_calls":[{"index":0,"function":{"arguments":":\"/a\"}"}}]}`),
				finish(`{}`, "tool_calls"), someUsage, done),
			text: "So:", calls: []call{{ID: "call_1", Name: "create_file", Input: `{"path":"/a"}`}}, sequence: "tc",
			stop: model.StopTools, usage: model.Usage{Input: 11, Output: 7},
		},
		"the end in the last delta's chunk": {
			answer: events(say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}`), finish(`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`, "tool_calls")),
			calls:  []call{{ID: "a", Name: "f", Input: "{}"}}, sequence: "c", stop: model.StopTools,
		},
		"two calls in turn, text between and behind": {
			answer: events(say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":\"}\"}"}}]}`), say(`{"content":"and"}`),
				say(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"g"}}]}`), say(`{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}`), say(`{"content":" done"}`),
				finish(`{}`, "stop")),
			text: "and done", calls: []call{{ID: "a", Name: "f", Input: `{"x":"}"}`}, {ID: "b", Name: "g", Input: "{}"}}, sequence: "ctct", stop: model.StopTools,
		},
		"calls that overlap": {
			answer: events(say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}},{"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\""}}]}`),
				say(`{"content":"amidst"}`), say(`{"tool_calls":[{"index":1,"function":{"arguments":":2}"}}]}`), say(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`),
				finish(`{}`, "tool_calls")),
			text: "amidst", calls: []call{{ID: "a", Name: "f", Input: `{"x":1}`}, {ID: "b", Name: "g", Input: `{"y":2}`}}, sequence: "cct", stop: model.StopTools,
		},
		"Ollama: whole calls, all with index 0": {
			answer: events(say(`{"role":"assistant","content":"","tool_calls":[{"id":"call_a","index":0,"type":"function","function":{"name":"f","arguments":"{\"n\":1}"}}]}`),
				say(`{"tool_calls":[{"id":"call_b","index":0,"type":"function","function":{"name":"f","arguments":"{\"n\":2}"}}]}`), finish(`{"content":""}`, "stop"), done),
			calls: []call{{ID: "call_a", Name: "f", Input: `{"n":1}`}, {ID: "call_b", Name: "f", Input: `{"n":2}`}}, sequence: "cc", stop: model.StopTools,
		},
		"whole calls without ids, with index 0": {
			answer: events(say(`{"tool_calls":[{"index":0,"id":"","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"","function":{"name":"f","arguments":"{}"}}]}`), finish(`{}`, "stop")),
			calls:  []call{{ID: anID, Name: "f", Input: "{}"}, {ID: anID, Name: "f", Input: "{}"}}, sequence: "cc", stop: model.StopTools,
		},
		"without index and id, in pieces": {
			answer: events(say(`{"tool_calls":[{"function":{"name":"f","arguments":"{"}}]}`), say(`{"tool_calls":[{"function":{"arguments":"}"}}]}`),
				say(`{"tool_calls":[{"function":{"name":"g","arguments":"{}"}}]}`), finish(`{}`, "tool_calls")),
			calls: []call{{ID: anID, Name: "f", Input: "{}"}, {ID: anID, Name: "g", Input: "{}"}}, sequence: "cc", stop: model.StopTools,
		},
		"without index, by id": {
			answer: events(say(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\":"}}]}`), say(`{"tool_calls":[{"id":"b","function":{"name":"g","arguments":"{}"}}]}`),
				say(`{"tool_calls":[{"id":"a","function":{"arguments":"1}"}}]}`), finish(`{}`, "tool_calls")),
			calls: []call{{ID: "a", Name: "f", Input: `{"x":1}`}, {ID: "b", Name: "g", Input: "{}"}}, sequence: "cc", stop: model.StopTools,
		},
		"id and name in each delta": {
			answer: events(say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`), say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":":{}"}}]}`),
				say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}]}`), say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}`), finish(`{}`, "tool_calls")),
			calls: []call{{ID: "a", Name: "f", Input: `{"x":{}}`}}, sequence: "c", stop: model.StopTools,
		},
		"another id in each delta, as vLLM has sent it": {
			answer: events(say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]}`), say(`{"tool_calls":[{"index":0,"id":"b","function":{"name":null,"arguments":"{\"x\""}}]}`),
				say(`{"tool_calls":[{"index":0,"id":"c","function":{"arguments":":1}"}}]}`), finish(`{}`, "tool_calls")),
			calls: []call{{ID: "a", Name: "f", Input: `{"x":1}`}}, sequence: "c", stop: model.StopTools,
		},
		"one id for all calls": {
			answer: events(say(`{"tool_calls":[{"index":0,"id":"f","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"f","function":{"name":"f","arguments":"{}"}}]}`), finish(`{}`, "tool_calls")),
			calls:  []call{{ID: "f", Name: "f", Input: "{}"}, {ID: anID, Name: "f", Input: "{}"}}, sequence: "cc", stop: model.StopTools,
		},
		"the name behind the id": {
			answer: events(say(`{"tool_calls":[{"index":1,"id":"a","function":{"arguments":"{"}}]}`), say(`{"tool_calls":[{"index":1,"function":{"name":"f","arguments":"}"}}]}`), finish(`{}`, "tool_calls")),
			calls:  []call{{ID: "a", Name: "f", Input: "{}"}}, sequence: "c", stop: model.StopTools,
		},
		"no name at all": {
			answer: events(say(`{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]}`), finish(`{}`, "tool_calls")),
			calls:  []call{{ID: "a", Input: "{}"}}, sequence: "c", stop: model.StopTools,
		},
		"arguments that are no string": {
			answer: events(say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}}]}`), say(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"f","arguments":null}}]}`), finish(`{}`, "tool_calls")),
			calls:  []call{{ID: "a", Name: "f", Input: `{"x":1}`}, {ID: "b", Name: "f"}}, sequence: "cc", stop: model.StopTools,
		},
		"two objects in one call are left to whoever reads it": {
			answer: events(say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`), say(`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`), finish(`{}`, "tool_calls")),
			calls:  []call{{ID: "a", Name: "f", Input: "{}{}"}}, sequence: "c", stop: model.StopTools,
		},
		"a call that is never closed": {
			answer: events(say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}}]}`), say(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}]}`), finish(`{}`, "tool_calls")),
			calls:  []call{{ID: "a", Name: "f", Input: `{"x`}, {ID: "b", Name: "g", Input: "{}"}}, sequence: "cc", stop: model.StopTools,
		},
		"cut off by the limit": {
			answer: events(say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}}]}`), finish(`{}`, "length")),
			calls:  []call{{ID: "a", Name: "f", Input: `{"x`}}, sequence: "c", stop: model.StopLength,
		},
		"function_call, from before there were tools": {
			answer: events(say(`{"function_call":{"name":"f","arguments":""}}`), say(`{"function_call":{"arguments":"{}"}}`), finish(`{}`, "function_call")),
			calls:  []call{{ID: anID, Name: "f", Input: "{}"}}, sequence: "c", stop: model.StopTools,
		},
		"an id that the conversation has": {
			answer: events(say(`{"tool_calls":[{"index":0,"id":"old","function":{"name":"f","arguments":"{}"}}]}`), finish(`{}`, "tool_calls")),
			calls:  []call{{ID: anID, Name: "f", Input: "{}"}}, sequence: "c", stop: model.StopTools,
		},
		"tool_calls without a call": {answer: events(hello, finish(`{}`, "tool_calls")), text: "Hello", stop: model.StopEnd},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := model.Request{Messages: []model.Message{
				{Role: model.User, Text: "Hi"}, {Role: model.Assistant, Calls: []model.Call{{ID: "old", Name: "f", Input: "{}"}}},
				{Role: model.User, Results: []model.Result{{CallID: "old", Text: "done"}}},
			}}
			got, outcome, err := ask(t, serve(t, raw(tc.answer)), r)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range tc.calls {
				if want.ID == anID && i < len(got.calls) {
					if len(got.calls[i].ID) != 9 {
						t.Errorf("%q is not an ID that all servers accept", got.calls[i].ID)
					}
					got.calls[i].ID = anID
				}
			}
			if tc.sequence == "" {
				tc.sequence = "t"
			}
			if got.text != tc.text || got.sequence != tc.sequence || !cmp.Equal(got.calls, tc.calls) {
				t.Errorf("got %q %q %+v", got.text, got.sequence, got.calls)
			}
			if got.thoughts != tc.thoughts {
				t.Errorf("%d thoughts", got.thoughts)
			}
			if outcome.Stop != tc.stop || outcome.Usage != tc.usage || (outcome.Model != "m-1" && strings.Contains(tc.answer, "m-1")) {
				t.Errorf("outcome %+v", outcome)
			}
		})
	}
}

// TestBrokenAnswers has streams that are not answers.
func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer string
		want   model.Fault
		says   string
	}{
		"nothing":                       {"", model.Unavailable, "cut short"},
		"broken off":                    {events(hello), model.Unavailable, "cut short"},
		"torn":                          {events(hello) + `data: {"choices":[{"del`, model.Unavailable, "cut short"},
		"[DONE] without a reason":       {events(hello, done), model.Unavailable, "without a finish reason"},
		"an empty reason":               {events(finish(`{"content":"a"}`, ""), done), model.Unavailable, "cut short"},
		"not JSON":                      {events(hello, "I can't do that.", stop), model.Unavailable, "cut short"},
		"another type":                  {events(`{"choices":"I can't do that."}`), model.Unavailable, "cut short"},
		"another type inside":           {events(`{"choices":[{"delta":{"refusal":["I can't do that."]},"index":0}]}`), model.Unavailable, "cut short"},
		"a call that comes back":        {events(say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`), hello, say(`{"tool_calls":[{"index":0,"function":{"arguments":"1"}}]}`), stop), model.Unavailable, "has ended"},
		"given up by the server":        {events(hello, finish(`{}`, "abort"), done), model.Unavailable, `"abort"`},
		"filtered":                      {events(hello, finish(`{}`, "content_filter"), someUsage, done), model.Refused, "content_filter"},
		"refused":                       {events(say(`{"refusal":"I can't "}`), say(`{"refusal":"do that."}`), stop, someUsage, done), model.Refused, "the model refused"},
		"refused and broken off":        {events(say(`{"refusal":"I can't do that."}`)), model.Refused, "the model refused"},
		"an error in the stream":        {events(hello, `{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}`), model.Unavailable, "The server had an error"},
		"its code is a status":          {events(hello, `{"error":{"message":"bad","type":"BadRequestError","code":400}}`, done), model.Misconfigured, "status 400: bad"},
		"its code is a server's":        {events(`{"error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`), model.Unavailable, "Provider disconnected"},
		"its type is a request error":   {events(`{"error":{"message":"no such thing","type":"invalid_request_error"}}`), model.Misconfigured, "no such thing"},
		"too long, noticed late":        {events(`{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`), model.TooLong, "exceeded"},
		"an error as text, as Ollama":   {events(hello, `{"error":"an error was encountered while running the model"}`), model.Unavailable, "while running"},
		"an error as an event":          {"event: error\ndata: I can't do that.\n\n", model.Unavailable, "no readable message"},
		"vLLM's bare error":             {events(`{"object":"error","message":"maximum context length is 8","type":"BadRequestError","code":400}`), model.TooLong, "is 8"},
		"an error in place of a stream": {`{"error":{"message":"Rate limit exceeded","code":429}}`, model.Unavailable, "Rate limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := serve(t, raw(tc.answer))
			_, outcome, err := ask(t, u, question)
			wantFault(t, err, tc.want)
			if !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v does not say %q", err, tc.says)
			}
			if strings.Contains(err.Error(), "do that") {
				t.Errorf("%v quotes the model's output", err)
			}
			if n := len(u.requests()); n != 1 {
				t.Errorf("%d requests, although an answer had begun", n)
			}
			if outcome.Stop != "" {
				t.Errorf("an incomplete answer has the stop %q", outcome.Stop)
			}
			if counted := strings.Contains(tc.answer, someUsage); counted == outcome.Usage.IsZero() {
				t.Errorf("usage %+v", outcome.Usage)
			}
		})
	}
}
