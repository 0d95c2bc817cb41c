package prompt_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
)

func TestTree(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 3000 {
		all = append(all, fmt.Sprintf("/lib/deep/er/file-%04d.ts", i), fmt.Sprintf("/src/pages/page-%04d.tsx", i))
	}
	all = append(all, "/package.json", "/src/main.ts", "/lib/deep/er/here/one.ts", "/lib/deep/er/here/two\u2028x.ts")
	slices.Sort(all)
	c := prompt.Chat{Paths: all, CurrentFile: "/lib/deep/er/here/one.ts", Message: "x"}
	tree := parseSections(t, lastText(c.Request(prompt.Budget{Tree: 1000}, 1)))[1].Text
	if len(tree) > 4000 || len(tree) < 3800 { // 1000 tokens have 4000 bytes
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
	if want := fmt.Sprintf("… and %d more", len(all)-len(shown)); lines[len(lines)-1] != want {
		t.Errorf("got the last line %q, want %q", lines[len(lines)-1], want)
	}
	small := prompt.Chat{Paths: all[:50], Message: "x"}
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
		if f := r.Subject.Files[0]; !f.Cut || strings.TrimSuffix(f.Content, "\n") != strings.TrimSuffix(file.Text, "\n") {
			t.Errorf("%s: the content in the subject differs from the content in the message", name)
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
	if r.Subject.Files[0].Cut || r.Subject.Files[0].Content != exact {
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
	files := c.Request(prompt.Budget{Named: 4000}, 1).Subject.Files
	if len(files) != 3 || files[1].Content != "small\n" || files[1].Cut || !files[0].Cut || !files[2].Cut {
		t.Fatalf("got the files %+v, want the small file completely and two cut files", files)
	}
	for _, f := range []model.File{files[0], files[2]} {
		if len(f.Content) < 7500 || len(f.Content) > 8000 { // half of 4000 tokens, which have 16,000 bytes
			t.Errorf("%s: got %d bytes, want 7500 to 8000", f.Path, len(f.Content))
		}
	}
	c.Files = nil
	for i := range 100 {
		c.Files = append(c.Files, prompt.Document{Path: fmt.Sprintf("/f%d", i), Content: numberedLines(100)})
	}
	files = c.Request(prompt.Budget{Named: 4000}, 1).Subject.Files
	if len(files) < 15 || len(files) > 30 {
		t.Fatalf("got %d files, want 15 to 30", len(files))
	}
	for i, f := range files {
		if want := fmt.Sprintf("/f%d", i); f.Path != want {
			t.Errorf("file %d: got %s, want %s", i, f.Path, want)
		}
	}
	if files = c.Request(prompt.Budget{}, 1).Subject.Files; len(files) != 0 {
		t.Errorf("got %d files without a budget, want none", len(files))
	}
}
