package scaffold

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/model"
)

// TestOutlines compares what is said of the files in testdata/explain with the files beside them that end in .want. With UPDATE=1
// those are written anew, to be read over by whoever changed something.
func TestOutlines(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/explain/*")
	if err != nil || len(files) < 9 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, ".want") {
			continue
		}
		content, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		got := describe(model.File{Path: "/" + strings.TrimSuffix(filepath.Base(f), ".txt"), Content: string(content)}) + "\n"
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(f+".want", []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(f + ".want")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: %s", f, diff)
		}
	}
}

func TestExplainFindsTheFile(t *testing.T) {
	t.Parallel()
	f := reactApp
	f.CurrentFile = "/src/App.jsx"
	f.Files = []model.File{{Path: "/src/App.jsx", Content: "export const one = 1\n"}, {Path: "/src/components/Button.jsx", Content: "export const two = 2\n", Cut: true}}
	for _, test := range []struct{ prompt, has string }{
		{"explain this file", "`one`"},
		{"what does this file do?", "`one`"},
		{"explain", "`one`"},
		{"how does it work?", "`one`"},
		{"please describe the current file", "`one`"},
		{"explain Button.jsx", "`two`"},
		{"explain src/components/Button.jsx to me", "only a part"},
		{"what is in the Button component?", "`two`"},
		{"explain the button component", "`two`"},
		{"explain src/old.js", "not given its content"},
		{"explain nothing.js", "no file `nothing.js`"},
		{"explain index.jsx", "`/src/admin/index.jsx` and `/src/pages/index.jsx`"},
		{"what is a closure?", "did not understand"},
		{"what is the weather like in Paris?", "did not understand"},
		{"how are babies made", "did not understand"},
		{"explain App.jsx and Button.jsx", "`two`"},
	} {
		if h := ask(t, chatRequest(f, test.prompt)); !strings.Contains(h.text, test.has) || len(h.calls) > 0 {
			t.Errorf("%q: want %q in\n%s", test.prompt, test.has, h.text)
		}
	}
	f.CurrentFile = ""
	if h := ask(t, chatRequest(f, "explain this file")); !strings.Contains(h.text, "Which file?") {
		t.Errorf("without a current file: %s", h.text)
	}
}

// TestBrokenFilesAreRead gives what is no good code of its language to each reader.
func TestBrokenFilesAreRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ path, content, has string }{
		{"/a.go", "package a\n\nfunc F() {}\n\nfunc (", "does not parse"},
		{"/a.go", "", "does not parse"},
		{"/a.json", "{ // no\n}", "not valid JSON"},
		{"/a.json", "[1, 2]", "2 items"},
		{"/a.json", `"x"`, "single text"},
		{"/a.js", "", "0 lines"},
		{"/a.xyz", "?", "a kind of file that I don't know"},
		{"/a.py", "import os\n", "Python"},
		{"/a.html", "<", "1 line"},
		{"/a.css", "a {", "`a`"},
		{"/a.js", "const a = `${`${b}`} } function no() {`;\nfunction yes() {}", "`yes()`"},
		{"/a.js", "const a = '\nfunction yes() {}", "`yes()`"},
		{"/a.ts", "export default class {}\nexport default async function* gen() {}", "`default gen`"},
	} {
		if got := describe(model.File{Path: test.path, Content: test.content}); !strings.Contains(got, test.has) {
			t.Errorf("%s %q: want %q in\n%s", test.path, test.content, test.has, got)
		}
	}
}

// TestLongLinesAreRead goes through what would take forever if anything looked at the rest of the file again and again.
func TestLongLinesAreRead(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"<", "<a ", "<script>", "</", "'\\", "(/[", "`${", "{", "<!--", "\"", "import ", "export ", "const a = (", "@", "#", "/*", "<a b={", "```\n", "type A<"} {
		content := strings.Repeat(unit, 50_000/len(unit))
		for _, ext := range []string{".js", ".tsx", ".vue", ".svelte", ".html", ".css", ".json", ".md", ".go"} {
			if got := describe(model.File{Path: "/a" + ext, Content: content}); got == "" || len(got) > 8000 {
				t.Errorf("%q in %s: %d bytes", unit, ext, len(got))
			}
		}
	}
}

func FuzzOutlines(f *testing.F) {
	files, err := filepath.Glob("testdata/explain/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(content))
	}
	f.Fuzz(func(t *testing.T, content string) {
		for _, ext := range []string{".js", ".tsx", ".vue", ".svelte", ".html", ".css", ".json", ".md", ".go"} {
			if got := describe(model.File{Path: "/a" + ext, Content: content}); got == "" {
				t.Errorf("nothing is said of %q as %s", content, ext)
			}
		}
	})
}
