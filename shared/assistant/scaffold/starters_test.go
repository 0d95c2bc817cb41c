package scaffold

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
)

// Each starter is one complete answer: at most 20 files, and at most the tokens of an answer. All files are text.
func TestStarters(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := folders.ReadDir("starters")
	if err != nil || len(folders) != len(starters) {
		t.Fatalf("got %d folders for %d starters, error %v", len(folders), len(starters), err)
	}
	for _, s := range starters {
		h := send(t, model.Request{Task: model.TaskChat, MaxOutput: 8192, Subject: model.Subject{Prompt: s.request}})
		if h.outcome.Stop != model.StopTools {
			t.Errorf("%s: the answer ended because of %q: %s", s.folder, h.outcome.Stop, h.text)
			continue
		}
		actions := h.actions(t)
		stored := 0
		err := fs.WalkDir(os.DirFS("starters/"+s.folder), ".", func(_ string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				stored++
			}
			return err
		})
		if err != nil || len(actions) != stored || stored > action.MaxPerAnswer {
			t.Errorf("%s: got %d actions for %d files, want at most %d; error %v",
				s.folder, len(actions), stored, action.MaxPerAnswer, err)
		}
		for _, a := range actions {
			data, err := os.ReadFile("starters/" + s.folder + a.Path)
			isText := utf8.Valid(data) && !strings.Contains(string(data), "\x00")
			if err != nil || a.Type != action.CreateFile || *a.Content != string(data) || !isText {
				t.Errorf("%s: got %s, want the text of the file; error %v", s.folder, a.Brief(), err)
			}
		}
		isPage := func(a action.Action) bool { return a.Path == "/index.html" }
		if !slices.ContainsFunc(actions, isPage) || slices.Contains([]string{"/.gitignore", "/404.html"}, actions[0].Path) {
			t.Errorf("%s: the first file is %s, or there is no page", s.folder, actions[0].Path)
		}
		row := "| “" + s.request + "” | " + s.about + " | " + s.stack.name + " | " + s.keywords + " |\n"
		if !strings.Contains(string(readme), row) {
			t.Errorf("README.md has no row %s", row)
		}
	}
}
