package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/openai"
	"devplatform/shared/assistant/provider"
)

// A server that does not follow the protocol cannot use more memory than a few times the limit of an event.
func TestLimitsOfAnswers(t *testing.T) {
	t.Parallel()
	const ( // the limits of this package and of provider.Queue
		maxEvent = 1 << 20
		maxSize  = 4 << 20
		maxCalls = 1000
		tooLarge = "the answer is too large"
	)
	elements := func(n int) string { return strings.TrimSuffix(strings.Repeat("{},", n), ",") }
	calls := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(eventStream(deltaChunk(fmt.Sprintf(`{"tool_calls":[{"index":%d}]}`, i))))
		}
		return b.String()
	}
	whole := `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`
	text := eventStream(deltaChunk(`{"content":"` + strings.Repeat("x", 900<<10) + `"}`))
	// The input of a call without a name waits in memory.
	input := eventStream(deltaChunk(`{"tool_calls":[{"function":{"arguments":"` + strings.Repeat("x", 900<<10) + `"}}]}`))
	ids := func(n int) string { // IDs of one call: some servers send a new ID with each delta
		var b strings.Builder
		for i := range n {
			b.WriteString(eventStream(deltaChunk(fmt.Sprintf(`{"tool_calls":[{"id":"%0256d"}]}`, i))))
		}
		return b.String()
	}
	named := func(id, name string) string {
		return eventStream(deltaChunk(fmt.Sprintf(`{"tool_calls":[{"id":"%s","function":{"name":"%s"}}]}`, id, name)))
	}
	for name, tc := range map[string]struct{ answer, message string }{
		"calls in events":  {calls(maxCalls + 1), tooLarge},
		"fewer calls":      {calls(maxCalls), ""},
		"a large event":    {eventStream(`{"x":"` + strings.Repeat("x", maxEvent) + `"}`), tooLarge},
		"a large comment":  {":" + strings.Repeat("x", maxEvent), tooLarge},
		"an endless event": {strings.Repeat("data: x\n", maxEvent/2+1), tooLarge},
		"many events":      {strings.Repeat("data: \r\n\r\n", maxEvent/8+1), ""},
		"many comments":    {strings.Repeat(":\n\n", maxEvent/3+1), ""},
		"a whole answer":   {whole + strings.Repeat(" ", maxEvent), tooLarge},
		"less whole":       {whole + strings.Repeat(" ", maxEvent-len(whole)), ""},
		"a large text":     {strings.Repeat(text, 5), tooLarge},
		"a large input":    {strings.Repeat(input, 5), tooLarge},
		"a smaller input":  {strings.Repeat(input, 4), ""},
		"many IDs":         {ids(maxSize/provider.MaxName + 1), tooLarge},
		"fewer IDs":        {ids(maxSize / provider.MaxName), ""},
		"a long ID":        {named(strings.Repeat("x", provider.MaxName+1), "x"), tooLarge},
		"a long name":      {named("x", strings.Repeat("x", provider.MaxName+1)), tooLarge},
		"shorter names":    {named(strings.Repeat("x", provider.MaxName), strings.Repeat("x", provider.MaxName)), ""},
		"an error":         {eventStream(`{"error":[` + elements(1000) + `]}`), ""},
	} {
		answer := tc.answer
		if !strings.HasPrefix(answer, "{") {
			answer += eventStream(stopChunk, doneData)
		}
		_, err := openai.Read([]byte(answer), func(model.Part) error { return nil })
		if tc.message == "" && err != nil || tc.message != "" && (err == nil || !strings.Contains(err.Error(), tc.message)) {
			t.Errorf("%s: got error %v, want %q", name, err, tc.message)
		}
	}
}

// The name of a model is stored with each answer.
func TestLongModelName(t *testing.T) {
	t.Parallel()
	name := func(n int) string { return `{"model":"` + strings.Repeat("m", n) + `"}` }
	answer := eventStream(name(provider.MaxName), name(provider.MaxName+1), `{"choices":[{"finish_reason":"stop"}]}`)
	outcome, err := openai.Read([]byte(answer), func(model.Part) error { return nil })
	if len(outcome.Model) != provider.MaxName || err != nil {
		t.Errorf("got a name of %d bytes, error %v, want %d bytes", len(outcome.Model), err, provider.MaxName)
	}
}
