package prompt_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
)

// tester is a *testing.T or a *rapid.T.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// parsedSection is a section of a message.
type parsedSection struct{ Title, Text string }

var firstLine = regexp.MustCompile(`^The sections of this message are marked by (data-[0-9a-f]+)\.\n`)

// parseSections parses the sections of a message, using only the mark in its first line. It fails if there is text
// outside of a section.
func parseSections(t tester, text string) []parsedSection {
	t.Helper()
	found := firstLine.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("the first line of %.200q does not contain a mark", text)
	}
	begin, end := "<"+found[1]+" ", "</"+found[1]+">"
	var sections []parsedSection
	open := false
	for line := range strings.SplitAfterSeq(strings.TrimPrefix(text, found[0]), "\n") {
		isBegin, isEnd := strings.HasPrefix(line, begin), strings.TrimSuffix(line, "\n") == end
		switch {
		case !isBegin && !isEnd && strings.Contains(line, found[1]):
			t.Fatalf("the mark occurs inside the line %q", line)
		case isBegin == isEnd && !open && strings.TrimSpace(line) != "", isBegin && open, isEnd && !open:
			t.Fatalf("the line %q is not allowed here", line)
		case isBegin:
			open = true
			sections = append(sections, parsedSection{Title: strings.TrimSuffix(strings.TrimPrefix(line, begin), ">\n")})
		case isEnd:
			open = false
		case open:
			sections[len(sections)-1].Text += line
		}
	}
	if open {
		t.Fatalf("the section %q has no end", sections[len(sections)-1].Title)
	}
	return sections
}

func lastText(r model.Request) string { return r.Messages[len(r.Messages)-1].Text }

func TestChat(t *testing.T) {
	t.Parallel()
	c := prompt.Chat{
		Project:     "Café \"Déjà\"\n",
		Framework:   "react",
		Paths:       []string{"/package.json", "/src/app.tsx", "/src/b.ts"},
		Total:       3,
		CurrentFile: "/src/app.tsx",
		Files: []prompt.Document{
			{Path: "/src/app.tsx", Content: "export {}\n"},
			{Path: "/src/b.ts", Content: "b"},
			{Path: "/src/app.tsx", Content: "twice"},
		},
		Summary: "The user likes tabs.",
		Turns: []model.Turn{
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
	facts := model.Facts{
		Prompt:      "Change b.ts",
		Framework:   "react",
		Paths:       c.Paths,
		CurrentFile: "/src/app.tsx",
		Turns:       c.Turns,
		Summary:     c.Summary,
		Files:       []model.File{{Path: "/src/app.tsx", Content: "export {}\n"}, {Path: "/src/b.ts", Content: "b"}},
	}
	if diff := cmp.Diff(facts, r.Facts); diff != "" {
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

// Requests with different contents have different marks.
func TestMarksDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for name, c := range map[string]prompt.Chat{
		"only a message": {Message: "x"},
		"other message":  {Message: "y"},
		"project":        {Message: "x", Project: "p"},
		"framework":      {Message: "x", Framework: "f"},
		"paths":          {Message: "x", Paths: []string{"/a"}},
		"file":           {Message: "x", Files: []prompt.Document{{Path: "/a", Content: "c"}}},
		"other path":     {Message: "x", Files: []prompt.Document{{Path: "/b", Content: "c"}}},
		"summary":        {Message: "x", Summary: "s"},
		"turn":           {Message: "x", Turns: []model.Turn{{User: "a", Assistant: "b"}}},
		"other turn":     {Message: "x", Turns: []model.Turn{{User: "a", Assistant: "c"}}},
	} {
		mark := firstLine.FindStringSubmatch(lastText(c.Request(prompt.DefaultBudget(), 1)))[1]
		if other, same := seen[mark]; same {
			t.Errorf("%s and %s have the same mark", name, other)
		}
		seen[mark] = name
	}
}

// The list of an answer's calls precedes the user's next message and is not in the answer.
func TestHistoryListsCalls(t *testing.T) {
	t.Parallel()
	actions := make([]string, 40)
	for i := range actions {
		actions[i] = fmt.Sprintf("create_file /a-rather-long-folder-name/and-a-file-%02d.ts", i)
	}
	turns := []model.Turn{{User: "a", Assistant: "b", Actions: actions}, {User: "c", Assistant: "d"}}
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

func TestTree(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 3000 {
		all = append(all, fmt.Sprintf("/lib/deep/er/file-%04d.ts", i), fmt.Sprintf("/src/pages/page-%04d.tsx", i))
	}
	all = append(all, "/package.json", "/src/main.ts", "/lib/deep/er/here/one.ts", "/lib/deep/er/here/two\u2028x.ts")
	slices.Sort(all)
	c := prompt.Chat{Paths: all, Total: 20_000, CurrentFile: "/lib/deep/er/here/one.ts", Message: "x"}
	tree := parseSections(t, lastText(c.Request(prompt.Budget{Tree: 1000}, 1)))[1].Text
	if len(tree) > 4000 || len(tree) < 3800 {
		t.Errorf("got %d bytes, want 3800 to 4000", len(tree))
	}
	lines := strings.Split(strings.TrimSuffix(tree, "\n"), "\n")
	shown := lines[:len(lines)-1]
	for _, p := range []string{
		"/package.json",
		"/src/main.ts",
		"/lib/deep/er/here/one.ts",
		`"/lib/deep/er/here/two\u2028x.ts"`,
		"/src/pages/page-0000.tsx",
	} {
		if !slices.Contains(shown, p) {
			t.Errorf("the tree does not contain %s", p)
		}
	}
	if strings.Contains(tree, "/lib/deep/er/file-") || !slices.IsSorted(shown) {
		t.Error("the tree contains deep files of other folders, or is not sorted")
	}
	if want := fmt.Sprintf("… and %d more", 20_000-len(shown)); lines[len(lines)-1] != want {
		t.Errorf("got the last line %q, want %q", lines[len(lines)-1], want)
	}
	small := prompt.Chat{Paths: all[:50], Total: 50, Message: "x"}
	whole := parseSections(t, lastText(small.Request(prompt.DefaultBudget(), 1)))[1].Text
	if whole != strings.Join(all[:50], "\n")+"\n" {
		t.Errorf("a small tree is not complete: %s", whole)
	}
}

// numberedLines returns a text with the given number of lines of 19 bytes each.
func numberedLines(lines int) string {
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "line %013d\n", i+1)
	}
	return text.String()
}

func TestLongFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content string
		want    string // a regular expression
	}{
		"many lines":       {numberedLines(50_000), `(?s)^line 0000000000001\n.*\n\[… [0-9]{5} lines left out …\]\nline .*line 0000000050000\n$`},
		"one line":         {strings.Repeat("é", 1<<19), `^é+\n\[… [0-9]+ characters left out …\]\né+\n$`},
		"short first line": {"head\n" + strings.Repeat("é", 1<<19), `^head\né+\n\[… [0-9]+ characters left out …\]\né+\n$`},
		"short last line":  {strings.Repeat("日", 1<<18) + "\ntail\n", `^日+\n\[… [0-9]+ characters left out …\]\n日+\ntail\n$`},
		"CR LF":            {strings.ReplaceAll(numberedLines(50_000), "\n", "\r\n"), `(?s)^line 0000000000001\r\n.*\r\n\[… [0-9]{5} lines left out …\]\nline `},
	} {
		chat := prompt.Chat{CurrentFile: "/a", Files: []prompt.Document{{Path: "/a", Content: c.content}}, Message: "x"}
		r := chat.Request(prompt.DefaultBudget(), 1)
		file := parseSections(t, lastText(r))[1]
		if want := `file "/a" cut`; file.Title != want {
			t.Errorf("%s: got the title %q, want %q", name, file.Title, want)
		}
		if !regexp.MustCompile(c.want).MatchString(file.Text) || !utf8.ValidString(file.Text) {
			t.Errorf("%s: got %.200q…%q, want a match for %s", name, file.Text, file.Text[len(file.Text)-200:], c.want)
		}
		budget := prompt.DefaultBudget().Current
		if n := prompt.TokensOf(file.Text); n > budget || n < budget*9/10 {
			t.Errorf("%s: got %d tokens, want between 90%% and 100%% of %d", name, n, budget)
		}
		if f := r.Facts.Files[0]; !f.Cut || strings.TrimSuffix(f.Content, "\n") != strings.TrimSuffix(file.Text, "\n") {
			t.Errorf("%s: the content in the facts differs from the content in the message", name)
		}
		var leftOut int
		at := strings.Index(file.Text, "[… ")
		if _, err := fmt.Sscanf(file.Text[at:], "[… %d", &leftOut); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(file.Text, "lines left out") {
			shown, all := strings.Count(file.Text, "\n")-1, strings.Count(c.content, "\n")
			if shown+leftOut != all {
				t.Errorf("%s: got %d shown lines and %d left out, want %d together", name, shown, leftOut, all)
			}
		}
	}
	exact := strings.Repeat("x", 1000)
	chat := prompt.Chat{Files: []prompt.Document{{Path: "/a", Content: exact}}, Message: "x"}
	r := chat.Request(prompt.Budget{Named: 300}, 1)
	if r.Facts.Files[0].Cut || r.Facts.Files[0].Content != exact {
		t.Error("a file that fits is cut")
	}
}

// Named files share their budget: small files are complete, and large ones share the rest equally. Files whose share
// would be too small are left out, the last ones first.
func TestNamedFilesShareTheirBudget(t *testing.T) {
	t.Parallel()
	c := prompt.Chat{Message: "x", CurrentFile: "/other", Files: []prompt.Document{
		{Path: "/large1", Content: numberedLines(5000)},
		{Path: "/small", Content: "small\n"},
		{Path: "/large2", Content: numberedLines(9000)},
	}}
	files := c.Request(prompt.Budget{Named: 4000}, 1).Facts.Files
	if len(files) != 3 || files[1].Content != "small\n" || files[1].Cut || !files[0].Cut || !files[2].Cut {
		t.Fatalf("got the files %+v, want the small file completely and two cut files", files)
	}
	for _, f := range []model.File{files[0], files[2]} {
		if len(f.Content) < 7500 || len(f.Content) > 8000 {
			t.Errorf("%s: got %d bytes, want 7500 to 8000", f.Path, len(f.Content))
		}
	}
	c.Files = nil
	for i := range 100 {
		c.Files = append(c.Files, prompt.Document{Path: fmt.Sprintf("/f%d", i), Content: numberedLines(100)})
	}
	files = c.Request(prompt.Budget{Named: 4000}, 1).Facts.Files
	if len(files) < 15 || len(files) > 30 {
		t.Fatalf("got %d files, want 15 to 30", len(files))
	}
	for i, f := range files {
		if want := fmt.Sprintf("/f%d", i); f.Path != want {
			t.Errorf("file %d: got %s, want %s", i, f.Path, want)
		}
	}
	if files = c.Request(prompt.Budget{}, 1).Facts.Files; len(files) != 0 {
		t.Errorf("got %d files without a budget, want none", len(files))
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	var turns []model.Turn
	for i := range 30 {
		turns = append(turns, model.Turn{User: fmt.Sprintf("question %d", i), Assistant: strings.Repeat("a", 1000)})
	}
	c := prompt.Chat{Message: "x", Turns: turns}
	r := c.Request(prompt.Budget{History: 2000}, 1)
	if len(r.Messages) != 15 || r.Messages[0].Text != "question 23" || r.Messages[12].Text != "question 29" {
		t.Errorf("got %d messages from %q, want 15 from question 23", len(r.Messages), r.Messages[0].Text)
	}
	if diff := cmp.Diff(turns[23:], r.Facts.Turns); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	// A turn that is too long is cut to half of the budget.
	c.Turns = []model.Turn{{User: "older", Assistant: "answer"}, {User: "long", Assistant: numberedLines(10_000)}}
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

func TestGenerate(t *testing.T) {
	t.Parallel()
	r := prompt.Generate("A button", "ts\nx", "react", 500)
	if got, want := lastText(r), "language: \"ts\\nx\"\nframework: \"react\"\n\nA button"; got != want {
		t.Errorf("got the message %q, want %q", got, want)
	}
	facts := model.Facts{Prompt: "A button", Language: "ts\nx", Framework: "react"}
	if diff := cmp.Diff(facts, r.Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if r.Task != model.TaskGenerate || r.Tools != nil || r.MaxOutput != 500 {
		t.Errorf("got task %q, %d tools and limit %d, want %q, none and 500",
			r.Task, len(r.Tools), r.MaxOutput, model.TaskGenerate)
	}
	if got, want := lastText(prompt.Generate("A button", "", "", 500)), "A button"; got != want {
		t.Errorf("got the message %q, want %q", got, want)
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	turns := []model.Turn{
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
	if diff := cmp.Diff(model.Facts{Turns: turns, Summary: "Before."}, r.Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if r.Task != model.TaskSummarize || r.MaxOutput != 500 || len(r.Messages) != 1 {
		t.Errorf("got task %q, limit %d and %d messages, want %q, 500 and 1",
			r.Task, r.MaxOutput, len(r.Messages), model.TaskSummarize)
	}
	var long []model.Turn
	for range 20 {
		long = append(long, model.Turn{User: numberedLines(1000), Assistant: numberedLines(5000)})
	}
	if n := prompt.Tokens(prompt.Summarize(numberedLines(1000), long, 500)); n > 16_000 {
		t.Errorf("got %d tokens, want at most 16000", n)
	}
}

func TestRepair(t *testing.T) {
	t.Parallel()
	chat := prompt.Chat{Message: "x", Turns: []model.Turn{{User: "a", Assistant: "b"}}}
	r := chat.Request(prompt.DefaultBudget(), 1000)
	r.Messages = slices.Grow(r.Messages, 10)
	calls := []model.Call{
		{ID: "1", Name: "create_file", Input: `{"path":"/a"}`},
		{ID: "2", Name: "edit_file", Input: `{"path":"/b", "sea`},
		{ID: "3", Name: "edit_file"},
		{ID: "4", Name: "delete_file", Input: `{"path":"/a","path":"/b"}`},
	}
	got := prompt.Repair(r, "", calls, []model.Result{
		{CallID: "1", Text: "Checked."},
		{CallID: "2", Text: "It does not occur.", Failed: true},
		{CallID: "3", Failed: true},
	}, nil, 0)
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
	results := []model.Result{
		{CallID: "1", Text: "Accepted."},
		{CallID: "2", Text: "It does not occur.", Failed: true},
		{CallID: "3", Text: "The call failed.", Failed: true},
		{CallID: "4", Text: "Accepted."},
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
	if shown := withFiles.Facts.Files; len(shown) != 2 || !shown[0].Cut || shown[1].Cut || len(r.Facts.Files) != 0 {
		t.Errorf("got the files %v in the facts, want both, the first one cut", shown)
	}
	// The original request is not changed, even if it is repaired twice.
	prompt.Repair(r, "other", nil, nil, nil, 0)
	if got.Messages[3].Text != "" {
		t.Error("the second request changed the messages of the first one")
	}
	if text := prompt.Repair(r, "", nil, nil, nil, 0).Messages[3].Text; text == "" {
		t.Error("got an empty answer, want a replacement")
	}
}
