package action_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/project/path"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, input string
		want        action.Action
	}{
		{
			tool:  "create_file", // with line breaks and escape sequences in the content
			input: `{"path":"/a.ts","content":"a\r\n\u00e9\ud83d\ude00"}`,
			want:  action.Action{Type: action.CreateFile, Path: "/a.ts", Content: new("a\r\né😀")},
		},
		{
			tool:  "create_file", // with a path without a slash at the beginning
			input: `{"content":"","path":"src/a.ts"}`,
			want:  action.Action{Type: action.CreateFile, Path: "/src/a.ts", Content: new("")},
		},
		{
			tool:  "update_file", // with white space around the object
			input: ` {"path":"./a","content":"x"} ` + "\n",
			want:  action.Action{Type: action.UpdateFile, Path: "/a", Content: new("x")},
		},
		{
			tool:  "edit_file", // only the path is converted to NFC
			input: `{"path":"/cafe\u0301","search":"e\u0301","replace":""}`,
			want:  action.Action{Type: action.EditFile, Path: "/café", Search: new("e\u0301"), Replace: new("")},
		},
		{
			tool:  "delete_file",
			input: `{"path":"/../a"}`, // Apply rejects this path
			want:  action.Action{Type: action.DeleteFile, Path: "/../a"},
		},
		{
			tool:  "delete_file",
			input: `{"path":""}`, // Apply rejects this path
			want:  action.Action{Type: action.DeleteFile},
		},
		{
			tool:  "rename_file",
			input: `{"path":"a","to":"b/c"}`,
			want:  action.Action{Type: action.RenameFile, Path: "/a", To: new("/b/c")},
		},
		{
			tool:  "add_dependency",
			input: `{"path":"package.json","packages":["zod@^4","x"]}`,
			want: action.Action{
				Type: action.AddDependency, Path: "/package.json", Packages: []string{"zod@^4", "x"},
			},
		},
	} {
		got, err := action.Parse(model.Call{ID: "1", Name: c.tool, Input: c.input})
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s %s: got error %v, action (-want +got):\n%s", c.tool, c.input, err, diff)
		}
	}
}

func TestParseProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tool, input, want string }{
		{"run_shell", `{}`, `There is no tool "run_shell". The tools are: create_file, update_file, edit_file, delete_file, rename_file, add_dependency.`},
		{"Create_file", validInputs["create_file"], "There is no tool"},
		{"", `{}`, `There is no tool "".`},
		{strings.Repeat("é\n", 300), `{}`, `There is no tool "é\né\n`},
		{"delete_file", "", "The input of delete_file is not valid: path is missing. Required fields: path."},
		{"delete_file", `null`, "is not a JSON object"},
		{"delete_file", `[]`, "is not a JSON object"},
		{"delete_file", `"{\"path\":\"/a\"}"`, "is not a JSON object"},
		{"delete_file", `{"path":"/a"`, "is not complete JSON: it was cut off"},
		{"delete_file", `{"path":"/a`, "is not complete JSON: it was cut off"},
		{"delete_file", `{"path":"/a"} {}`, "has more text after its closing brace"},
		{"delete_file", `{"path":"/a"}}`, "has more text after its closing brace"},
		{"delete_file", `{'path':'/a'}`, "is not valid JSON (at byte 1:"},
		{"delete_file", "```json\n{\"path\":\"/a\"}\n```", "is not valid JSON (at byte 0:"},
		{"delete_file", `{"path":"/a","path":"/b"}`, `has the field "path" twice`},
		{"delete_file", `{"path":"/a","x":{"y":1,"y":2}}`, `has the field "y" twice`},
		{"delete_file", `{"path":"/a\u0000"}`, "path must not contain NUL"},
		{"create_file", `{"path":"/a","content":"\u0000"}`, "content must not contain NUL"},
		{"create_file", "{\"path\":\"/a\",\"content\":\"\xff\"}", "is not valid JSON"},
		{"create_file", `{"path":"/a","content":"\ud800"}`, "is not valid JSON"},
		{"create_file", `{"path":"/a","content":"a` + "\n" + `b"}`, "is not valid JSON"},
		{"create_file", `{"path":1,"content":null}`, "path must be a string; content must be a string."},
		{"create_file", `{"Path":"/a","content":"","more":1}`, `path is missing; "Path" is not a field of this tool; "more" is not a field of this tool.`},
		{"edit_file", `{"path":"/a","search":"a"}`, "replace is missing. Required fields: path, search, replace."},
		{"add_dependency", `{"path":"/package.json","packages":"zod"}`, "packages must be a list of strings"},
		{
			"add_dependency", `{"path":"/package.json","packages":[]}`,
			"packages must be a list of strings, at least one and at most 50",
		},
		{
			"add_dependency", `{"path":"/package.json","packages":[` + strings.Repeat(`"a",`, 50) + `"a"]}`,
			"packages must be a list of strings, at least one",
		},
		{"add_dependency", `{"path":"/package.json","packages":[{"name":"zod"}]}`, "packages must be a list of strings"},
	} {
		_, err := action.Parse(model.Call{Name: c.tool, Input: c.input})
		var problem *action.Problem
		if !errors.As(err, &problem) || !strings.Contains(problem.Text, c.want) {
			t.Errorf("%s %s: got error %v, want a problem that contains %q", c.tool, c.input, err, c.want)
		}
		const maxLength = 600 // a problem quotes only the beginning of a long name
		if problem != nil && len(problem.Text) > maxLength {
			t.Errorf("%s: the problem has %d bytes, want at most %d", c.tool, len(problem.Text), maxLength)
		}
	}
}

// FuzzParse checks that Parse returns either a valid problem or an action. If the action is encoded as JSON, Parse must
// return the same action for this JSON.
func FuzzParse(f *testing.F) {
	for name, input := range validInputs {
		f.Add(name, input)
	}
	f.Add("create_file", `{"path":"a\u0000","content":"\ud800"}`)
	f.Fuzz(func(t *testing.T, name, input string) {
		a, err := action.Parse(model.Call{Name: name, Input: input})
		if err != nil {
			var problem *action.Problem
			if !errors.As(err, &problem) || problem.Text == "" || !utf8.ValidString(problem.Text) ||
				strings.ContainsAny(problem.Text, "\n\x00") {
				t.Fatalf("got error %q, want a problem with one line of valid UTF-8", err)
			}
			return
		}
		for _, text := range []*string{&a.Path, a.Content, a.Search, a.Replace, a.To} {
			if text != nil && (!utf8.ValidString(*text) || strings.ContainsRune(*text, 0)) {
				t.Fatalf("the action contains the text %q, want valid UTF-8 without NUL", *text)
			}
		}
		if a.Path != "" && a.Path[0] != '/' || path.Check(a.Path) == "must be in Unicode normal form C (NFC)" {
			t.Fatalf("got the path %q, want a path in NFC that begins with a slash", a.Path)
		}
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		encoded := strings.Replace(string(text), `"type":"`+name+`",`, "", 1)
		again, err := action.Parse(model.Call{Name: name, Input: encoded})
		if diff := cmp.Diff(a, again); diff != "" || err != nil {
			t.Fatalf("Parse of %s: got error %v, action (-want +got):\n%s", encoded, err, diff)
		}
	})
}
