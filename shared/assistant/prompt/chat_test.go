package prompt_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
)

func TestChat(t *testing.T) {
	t.Parallel()
	c := prompt.Chat{
		Project:     "Café \"Déjà\"\n",
		Framework:   "react",
		Paths:       []string{"/package.json", "/src/app.tsx", "/src/b.ts"},
		CurrentFile: "/src/app.tsx",
		Files: []prompt.Document{
			{Path: "/src/app.tsx", Content: "export {}\n"},
			{Path: "/src/b.ts", Content: "b"},
			{Path: "/src/app.tsx", Content: "twice"},
		},
		Summary: "The user likes tabs.",
		Turns: []prompt.Turn{
			{User: "Hello", Assistant: "Hi."},
			{User: "Create b", Assistant: "", Actions: []string{"create_file /src/b.ts", "edit_file /src/app.tsx"}},
		},
		Message: "Change b.ts",
	}
	r := c.Request(prompt.DefaultBudget(), 1000)
	want := []parsedSection{
		{"project", "name: \"Café \\\"Déjà\\\"\\n\"\nframework: \"react\"\nnumber of files: 3\nmaximum length of your answer: 1000 tokens\nthe user is looking at: \"/src/app.tsx\"\n"},
		{"files", "/package.json\n/src/app.tsx\n/src/b.ts\n"},
		{"file \"/src/app.tsx\"", "export {}\n"},
		{"file \"/src/b.ts\"", "b\n"},
		{"conversation before", "The user likes tabs.\n"},
		{"previous answer", "[The calls of your answer before this message: create_file /src/b.ts; edit_file /src/app.tsx]\n"},
		{"message", "Change b.ts\n"},
	}
	if diff := cmp.Diff(want, parseSections(t, lastText(r))); diff != "" {
		t.Error(diff)
	}
	before := []model.Message{
		{Role: model.User, Text: "Hello"},
		{Role: model.Assistant, Text: "Hi."},
		{Role: model.User, Text: "Create b"},
		{Role: model.Assistant, Text: "(no text)"},
	}
	if diff := cmp.Diff(before, r.Messages[:4]); diff != "" || len(r.Messages) != 5 || r.Messages[4].Role != model.User {
		t.Errorf("got %d messages, want 5 with the user's message last; earlier messages (-want +got):\n%s",
			len(r.Messages), diff)
	}
	subject := model.Subject{
		Prompt:    "Change b.ts",
		Framework: "react",
		Paths:     c.Paths,
		Files:     []model.File{{Path: "/src/app.tsx", Content: "export {}\n"}, {Path: "/src/b.ts", Content: "b"}},
	}
	if diff := cmp.Diff(subject, r.Subject); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(action.Tools(), r.Tools); diff != "" || r.Task != model.TaskChat || r.MaxOutput != 1000 {
		t.Errorf("got task %q and limit %d, want %q and 1000; tools (-want +got):\n%s",
			r.Task, r.MaxOutput, model.TaskChat, diff)
	}
	if diff := cmp.Diff(r, c.Request(prompt.DefaultBudget(), 1000)); diff != "" {
		t.Errorf("the same chat results in another request: %s", diff)
	}
	other := prompt.Chat{Message: "Hello"}.Request(prompt.DefaultBudget(), 1000)
	if other.System != r.System {
		t.Error("the instruction differs between requests")
	}
	want = []parsedSection{
		{"project", "name: \"\"\nframework: \"\"\nnumber of files: 0\nmaximum length of your answer: 1000 tokens\n"},
		{"message", "Hello\n"},
	}
	if diff := cmp.Diff(want, parseSections(t, lastText(other))); diff != "" {
		t.Errorf("smallest request (-want +got):\n%s", diff)
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	turns := []prompt.Turn{
		{User: "a", Assistant: "b", Actions: []string{"delete_file /x"}},
		{User: "c", Assistant: ""},
	}
	r := prompt.Summarize("Before.", turns, 500)
	want := []parsedSection{
		{"current note", "Before.\n"},
		{"user", "a\n"},
		{"assistant", "b\n"},
		{"calls", "delete_file /x\n"},
		{"user", "c\n"},
		{"assistant", "(no text)\n"},
	}
	if diff := cmp.Diff(want, parseSections(t, lastText(r))); diff != "" {
		t.Error(diff)
	}
	if r.Task != model.TaskSummarize || r.MaxOutput != 500 || len(r.Messages) != 1 {
		t.Errorf("got task %q, limit %d and %d messages, want %q, 500 and 1",
			r.Task, r.MaxOutput, len(r.Messages), model.TaskSummarize)
	}
	var long []prompt.Turn
	for range 20 {
		long = append(long, prompt.Turn{User: numberedLines(1000), Assistant: numberedLines(5000)})
	}
	// The turns have at most 12,000 tokens, the old summary 1,500, and the rest is for the instruction.
	if n := prompt.Tokens(prompt.Summarize(numberedLines(1000), long, 500)); n > 16_000 {
		t.Errorf("got %d tokens, want at most 16000", n)
	}
}
