package openai_test

import (
	"testing"

	"devplatform/shared/assistant/model"
)

// Servers send calls in many formats.
func TestCalls(t *testing.T) {
	t.Parallel()
	checkAnswers(t, map[string]answerCase{
		"not streamed": {
			answer:   `{"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hello","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
			text:     "Hello",
			calls:    []model.Call{{ID: "a", Name: "f", Input: "{}"}},
			sequence: "tc",
			usage:    model.Usage{Input: 1, Output: 2},
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
			usage:    model.Usage{Input: 11, Output: 7},
		},
		"finish reason in the chunk with the last delta": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}`),
				finishChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`, "tool_calls"),
			),
			calls: []model.Call{{ID: "a", Name: "f", Input: "{}"}},
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
		},
		"Ollama: whole calls, all with index 0": {
			answer: eventStream(
				deltaChunk(`{"role":"assistant","content":"","tool_calls":[{"id":"call_a","index":0,"type":"function","function":{"name":"f","arguments":"{\"n\":1}"}}]}`),
				callsChunk(`{"id":"call_b","index":0,"type":"function","function":{"name":"f","arguments":"{\"n\":2}"}}`),
				finishChunk(`{"content":""}`, "stop"),
				doneData,
			),
			calls: []model.Call{{ID: "call_a", Name: "f", Input: `{"n":1}`}, {ID: "call_b", Name: "f", Input: `{"n":2}`}},
		},
		"whole calls without IDs, with index 0": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"","function":{"name":"f","arguments":"{}"}}`),
				finishChunk(`{}`, "stop"),
			),
			calls: []model.Call{{ID: randomID, Name: "f", Input: "{}"}, {ID: randomID, Name: "f", Input: "{}"}},
		},
		"without index and ID, in pieces": {
			answer: eventStream(
				callsChunk(`{"function":{"name":"f","arguments":"{"}}`),
				callsChunk(`{"function":{"arguments":"}"}}`),
				callsChunk(`{"function":{"name":"g","arguments":"{}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls: []model.Call{{ID: randomID, Name: "f", Input: "{}"}, {ID: randomID, Name: "g", Input: "{}"}},
		},
		"without index, with ID": {
			answer: eventStream(
				callsChunk(`{"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`),
				callsChunk(`{"id":"b","function":{"name":"g","arguments":"{}"}}`),
				callsChunk(`{"id":"a","function":{"arguments":"1}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls: []model.Call{{ID: "a", Name: "f", Input: `{"x":1}`}, {ID: "b", Name: "g", Input: "{}"}},
		},
		"ID and name in each delta": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`),
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":":{}"}}`),
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}`),
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls: []model.Call{{ID: "a", Name: "f", Input: `{"x":{}}`}},
		},
		"vLLM: another ID in each delta": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f"}}`),
				callsChunk(`{"index":0,"id":"b","function":{"name":null,"arguments":"{\"x\""}}`),
				callsChunk(`{"index":0,"id":"c","function":{"arguments":":1}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls: []model.Call{{ID: "a", Name: "f", Input: `{"x":1}`}},
		},
		"same ID for all calls": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"f","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"f","function":{"name":"f","arguments":"{}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls: []model.Call{{ID: "f", Name: "f", Input: "{}"}, {ID: randomID, Name: "f", Input: "{}"}},
		},
		"name after the ID": {
			answer: eventStream(
				callsChunk(`{"index":1,"id":"a","function":{"arguments":"{"}}`),
				callsChunk(`{"index":1,"function":{"name":"f","arguments":"}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls: []model.Call{{ID: "a", Name: "f", Input: "{}"}},
		},
		"no name": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"arguments":"{}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls: []model.Call{{ID: "a", Input: "{}"}},
		},
		"arguments are not a string": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}}`),
				callsChunk(`{"index":1,"id":"b","function":{"name":"f","arguments":null}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls: []model.Call{{ID: "a", Name: "f", Input: `{"x":1}`}, {ID: "b", Name: "f"}},
		},
		"two objects in one call are not separated": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`),
				callsChunk(`{"index":0,"function":{"arguments":"{}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls: []model.Call{{ID: "a", Name: "f", Input: "{}{}"}},
		},
		"call with incomplete JSON": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}}`),
				callsChunk(`{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls: []model.Call{{ID: "a", Name: "f", Input: `{"x`}, {ID: "b", Name: "g", Input: "{}"}},
		},
		"call cut by the limit": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}}`),
				finishChunk(`{}`, "length"),
			),
			calls: []model.Call{{ID: "a", Name: "f", Input: `{"x`}},
			stop:  model.StopLength,
		},
		"ID that the conversation already has": {
			answer: eventStream(
				callsChunk(`{"index":0,"id":"old","function":{"name":"f","arguments":"{}"}}`),
				finishChunk(`{}`, "tool_calls"),
			),
			calls: []model.Call{{ID: randomID, Name: "f", Input: "{}"}},
		},
	})
}
