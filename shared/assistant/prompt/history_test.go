package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"devplatform/shared/assistant/prompt"
)

// The list of an answer's calls precedes the user's next message and is not in the answer.
func TestHistoryListsCalls(t *testing.T) {
	t.Parallel()
	actions := make([]string, 40)
	for i := range actions {
		actions[i] = fmt.Sprintf("create_file /a-rather-long-folder-name/and-a-file-%02d.ts", i)
	}
	turns := []prompt.Turn{{User: "a", Assistant: "b", Actions: actions}, {User: "c", Assistant: "d"}}
	r := prompt.Chat{Message: "x", Turns: turns}.Request(prompt.DefaultBudget(), 1)
	text := r.Messages[2].Text
	const begin = "[The calls of your answer before this message: create_file /a-rather-long-folder-name/and-a-file-00.ts; "
	if !strings.HasPrefix(text, begin) || !strings.HasSuffix(text, "]\n\nc") {
		t.Errorf("got the message %q, want the list of calls and the text c", text)
	}
	var missing int
	if _, err := fmt.Sscanf(text[strings.LastIndex(text, "; "):], "; and %d more]", &missing); err != nil {
		t.Fatal(err)
	}
	if listed := strings.Count(text, "create_file"); listed+missing != len(actions) {
		t.Errorf("got %d listed and %d missing calls, want %d together", listed, missing, len(actions))
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	var turns []prompt.Turn
	for i := range 30 {
		turns = append(turns, prompt.Turn{User: fmt.Sprintf("question %d", i), Assistant: strings.Repeat("a", 1000)})
	}
	c := prompt.Chat{Message: "x", Turns: turns}
	r := c.Request(prompt.Budget{History: 2000}, 1) // 8000 bytes: seven turns, each with about 1,070 bytes
	if len(r.Messages) != 2*7+1 || r.Messages[0].Text != "question 23" || r.Messages[12].Text != "question 29" {
		t.Errorf("got %d messages from %q, want 15 from question 23", len(r.Messages), r.Messages[0].Text)
	}
	// A turn that is too long is cut to half of the budget.
	c.Turns = []prompt.Turn{{User: "older", Assistant: "answer"}, {User: "long", Assistant: numberedLines(10_000)}}
	r = c.Request(prompt.Budget{History: 2000}, 1)
	if len(r.Messages) != 5 || r.Messages[0].Text != "older" {
		t.Fatalf("got the messages %+v, want both turns", r.Messages)
	}
	if text := r.Messages[3].Text; len(text) > 4000 || !strings.Contains(text, "lines left out …]") {
		t.Errorf("got a message of %d bytes, want a cut text of at most 4000 bytes", len(text))
	}
	if r = c.Request(prompt.Budget{}, 1); len(r.Messages) != 1 {
		t.Errorf("got %d messages without a budget, want 1", len(r.Messages))
	}
}
