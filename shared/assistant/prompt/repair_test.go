package prompt_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
)

func TestRepair(t *testing.T) {
	t.Parallel()
	chat := prompt.Chat{Message: "x", Turns: []prompt.Turn{{User: "a", Assistant: "b"}}}
	r := chat.Request(prompt.DefaultBudget(), 1000)
	r.Messages = slices.Grow(r.Messages, 10)
	calls := []model.Call{
		{ID: "1", Name: "create_file", Input: `{"path":"/a"}`},
		{ID: "2", Name: "edit_file", Input: `{"path":"/b", "sea`},
		{ID: "3", Name: "edit_file"},
		{ID: "4", Name: "delete_file", Input: `{"path":"/a","path":"/b"}`},
	}
	results := []model.Result{{CallID: "1", Text: "Accepted."}, {CallID: "2", Text: "It does not occur.", Failed: true}}
	got := prompt.Repair(r, "", calls, results, nil, 0)
	if got.System != r.System || got.Task != r.Task || got.MaxOutput != r.MaxOutput {
		t.Errorf("got the request %+v, want the same settings as in %+v", got, r)
	}
	if len(r.Messages) != 3 || len(got.Messages) != 5 {
		t.Fatalf("got the messages %+v, want two more messages", got.Messages)
	}
	if diff := cmp.Diff(r.Tools, got.Tools); diff != "" {
		t.Error(diff)
	}
	answer, next := got.Messages[3], got.Messages[4]
	if answer.Role != model.Assistant || answer.Text != "" || next.Role != model.User || next.Text == "" {
		t.Errorf("got the messages %+v and %+v, want the answer and an instruction", answer, next)
	}
	if diff := cmp.Diff(results, next.Results); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	inputs := []string{
		`{"path":"/a"}`,
		`{"unreadable":"{\"path\":\"/b\", \"sea"}`,
		`{}`,
		`{"unreadable":"{\"path\":\"/a\",\"path\":\"/b\"}"}`,
	}
	for i, call := range answer.Calls {
		var object map[string]any
		want := model.Call{ID: calls[i].ID, Name: calls[i].Name, Input: inputs[i]}
		if call != want {
			t.Errorf("got the call %+v, want %+v", call, want)
		}
		if err := json.Unmarshal([]byte(call.Input), &object); err != nil {
			t.Errorf("the input %s is not an object: %v", call.Input, err)
		}
	}
	// Files are shown before the instruction, and are cut to the budget.
	files := []prompt.Document{{Path: "/a", Content: numberedLines(1000)}, {Path: "/b", Content: "b\n"}}
	withFiles := prompt.Repair(r, "", calls, nil, files, 500)
	text, isLast := strings.CutSuffix(lastText(withFiles), "\n"+next.Text)
	sections := parseSections(t, text)
	if !isLast || len(sections) != 2 || sections[0].Title != `file "/a" cut` || sections[1].Title != `file "/b"` {
		t.Errorf("got the message %q, want both files and the instruction", lastText(withFiles))
	}
	if shown := withFiles.Subject.Files; len(shown) != 2 || !shown[0].Cut || shown[1].Cut || len(r.Subject.Files) != 0 {
		t.Errorf("got the files %v in the subject, want both, the first one cut", shown)
	}
	// The original request is not changed, even if it is repaired twice.
	prompt.Repair(r, "other", nil, nil, nil, 0)
	if got.Messages[3].Text != "" {
		t.Error("the second request changed the messages of the first one")
	}
}
