package prompt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/shared/assistant/prompt"
	"devplatform/shared/project/path"
)

var paths = []string{
	"/README.md", "/Makefile", "/test", "/a.ts",
	"/src/app.tsx", "/src/pages/index.tsx", "/src/other/index.tsx", "/src/data.ts", "/src/my notes.md",
	"/app/(group)/page.tsx", "/app/users/[id]/edit.tsx", "/src/café.ts", "/文档/说明.md",
	"/.env", "/src/__init__.py", "/_app.tsx", "/src/C#.cs", "/don't.md",
}

func TestMentioned(t *testing.T) {
	t.Parallel()
	for message, want := range map[string][]string{
		"":                                      nil,
		"Make the button red":                   nil,
		"Change /src/app.tsx please":            {"/src/app.tsx"},
		"Change src/app.tsx please":             {"/src/app.tsx"},
		"Change ./src/app.tsx, please.":         {"/src/app.tsx"},
		"Change app.tsx.":                       {"/src/app.tsx"},
		"in `app.tsx`: x":                       {"/src/app.tsx"},
		"in ``app.tsx``":                        {"/src/app.tsx"},
		"in **src/app.tsx**!":                   {"/src/app.tsx"},
		"in _src/app.tsx_":                      {"/src/app.tsx"},
		"(src/app.tsx)":                         {"/src/app.tsx"},
		"src/app.tsx:12:5 fails":                {"/src/app.tsx"},
		"src/app.tsx#L12-L20":                   {"/src/app.tsx"},
		"[the app](src/app.tsx)":                {"/src/app.tsx"},
		"@src/app.tsx":                          {"/src/app.tsx"},
		"app.tsx's state":                       {"/src/app.tsx"},
		"app.tsx/data.ts":                       nil,
		"data.ts,app.tsx;a.ts":                  {"/src/data.ts", "/src/app.tsx", "/a.ts"},
		"what is in data.ts?":                   {"/src/data.ts"},
		"a.ts, then /a.ts again, and a.ts":      {"/a.ts"},
		"in a.tsx or b.ts or xa.ts or a.ts2":    nil,
		"index.tsx":                             nil, // ambiguous
		"pages/index.tsx":                       {"/src/pages/index.tsx"},
		"/pages/index.tsx":                      nil,
		"es/index.tsx":                          nil,
		"see src/":                              nil,
		"test it":                               nil,
		"look at `test`":                        {"/test"},
		"the Makefile":                          {"/Makefile"},
		"edit \"my notes.md\" now":              {"/src/my notes.md"},
		"edit 'src/my notes.md' and a.ts":       {"/src/my notes.md", "/a.ts"},
		"don't edit 'src/my notes.md'":          {"/src/my notes.md"},
		"“src/my notes.md”":                     {"/src/my notes.md"},
		"my notes.md":                           nil,
		"the page app/(group)/page.tsx":         {"/app/(group)/page.tsx"},
		"(app/(group)/page.tsx)":                {"/app/(group)/page.tsx"},
		"users/[id]/edit.tsx":                   {"/app/users/[id]/edit.tsx"},
		"cafe\u0301.ts":                         {"/src/café.ts"},
		"说明.md 和 文档/说明.md":                      {"/文档/说明.md"},
		"请修改src/app.tsx文件":                      {"/src/app.tsx"},
		"app.tsx를 고쳐 주세요":                       {"/src/app.tsx"},
		"「app.tsx」を直して":                         {"/src/app.tsx"},
		"my .env, please":                       {"/.env"},
		"__init__.py and _app.tsx":              {"/src/__init__.py", "/_app.tsx"},
		"C#.cs":                                 {"/src/C#.cs"},
		"don't.md":                              {"/don't.md"},
		"https://example.com/src/app.tsx":       nil,
		"`src/app.tsx:12`":                      {"/src/app.tsx"},
		"https://example.com/?file=src/app.tsx": nil,
		"APP.TSX":                               nil,
		"line one\n`src/app.tsx\nREADME.md`":    {"/src/app.tsx", "/README.md"},
		"\"a.ts\" \"src/data.ts\"":              {"/a.ts", "/src/data.ts"},
		"‘‘‘‘‘‘‘‘my notes.md’":                  {"/src/my notes.md"},
		"‘see ‘my notes.md’":                    {"/src/my notes.md"},
		"((((app.tsx))))":                       {"/src/app.tsx"},
		"import \"./app.tsx\"":                  {"/src/app.tsx"},
		"in app.tsx.bak or my-app.tsx":          nil,
		"בapp.tsx":                              {"/src/app.tsx"},
	} {
		if diff := cmp.Diff(want, prompt.Mentioned(message, paths)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", message, diff)
		}
	}
}

func TestPathsIn(t *testing.T) {
	t.Parallel()
	for message, want := range map[string][]string{
		"":                                 nil,
		"Make the button red. Now!":        nil,
		"Change /src/app.tsx, and b.ts.":   {"/src/app.tsx", "/b.ts"},
		"`src/app.tsx:12`":                 {"/src/app.tsx"},
		"\"./my dir/my notes.md\"":         {"/my dir/my notes.md"},
		"(app/(group)/page.tsx)":           {"/app/(group)/page.tsx", "/page.tsx"},
		"[id].tsx":                         {"/[id].tsx", "/.tsx"}, // the second path does not exist, which is allowed
		"version 1.2.3":                    nil,
		"see https://example.com/a/b.ts":   nil,
		"../a/b.ts and a//b.ts and a\\b.c": nil,
		"请修改src/app.tsx文件":                 {"/请修改src/app.tsx文件", "/src/app.tsx"},
		"cafe\u0301.ts":                    {"/café.ts"},
	} {
		if diff := cmp.Diff(want, prompt.PathsIn(message)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", message, diff)
		}
	}
	message := strings.Repeat("a/b ", 5)
	for i := range 20 {
		message += fmt.Sprintf("c/%d ", i)
	}
	if got := prompt.PathsIn(message); len(got) != 20 {
		t.Errorf("got %d paths of 21, want 20", len(got))
	}
}

// A quoted path is always found, and only paths whose file name occurs in the message are found.
func TestMentionsAreWholeNames(t *testing.T) {
	t.Parallel()
	const letters = "ab.é/日- "
	text := rapid.StringOfN(rapid.SampledFrom([]rune(letters+"`'\"(),:\n")), 0, 40, -1)
	validPath := rapid.Map(
		rapid.StringOfN(rapid.SampledFrom([]rune(letters)), 1, 8, -1),
		func(s string) string { return "/" + s },
	).Filter(func(p string) bool { return path.Check(p) == "" })
	rapid.Check(t, func(t *rapid.T) {
		known := rapid.SliceOfN(validPath, 1, 5).Draw(t, "paths")
		message := text.Draw(t, "message")
		for _, p := range prompt.Mentioned(message, known) {
			base := p[strings.LastIndexByte(p, '/')+1:]
			if !slices.Contains(known, p) || !strings.Contains(message, base) {
				t.Fatalf("got %q, which the message %q does not contain", p, message)
			}
		}
		p := known[0]
		for _, quoted := range []string{"`" + p + "`", "\"" + p[1:] + "\""} {
			if found := prompt.Mentioned("In "+quoted+", please", known); !slices.Contains(found, p) {
				t.Fatalf("got %q for %s, want %q", found, quoted, p)
			}
		}
		for _, p := range prompt.PathsIn(message) {
			if path.Check(p) != "" {
				t.Fatalf("PathsIn returned the invalid path %q", p)
			}
		}
	})
}

// A message that would need too much work is searched only for the first names. What is found is not ambiguous.
func TestMentionedStopsAtLimit(t *testing.T) {
	t.Parallel()
	known := []string{"/first.ts"}
	for i := range 5000 {
		known = append(known, fmt.Sprintf("/%d/many.ts", i))
	}
	known = append(known, "/last.ts")
	few := "Change first.ts, 7/many.ts and last.ts."
	if got, want := prompt.Mentioned(few, known), []string{"/first.ts", "/7/many.ts", "/last.ts"}; !slices.Equal(got, want) {
		t.Errorf("a usual message: got %q, want %q", got, want)
	}
	many := strings.Repeat("See many.ts. ", 100) + few
	for _, p := range prompt.Mentioned(many, known) {
		if p != "/first.ts" && p != "/7/many.ts" {
			t.Errorf("a message that names a file 100 times: got %q, which is ambiguous or behind the limit", p)
		}
	}
}

// BenchmarkMentioned measures the time for the largest messages and 5,000 files with paths of the maximum length. It
// should be less than 20 ms.
func BenchmarkMentioned(b *testing.B) {
	const files, size = 5000, 32_000 // in characters
	type project struct {
		message string
		paths   []string
	}
	newProject := func(word string, pathOf func(i int) string) project {
		p := project{message: string([]rune(strings.Repeat(word, size))[:size])}
		for i := range files {
			p.paths = append(p.paths, pathOf(i))
		}
		return p
	}
	folders := strings.Repeat("/a", 125)
	// substrings has different parts of a repeated text of 83 characters as file names.
	substrings := func(alphabet rune) project {
		period := make([]rune, 83)
		for i := range period {
			period[i] = alphabet + rune(i*i%83%23)
		}
		text := []rune(strings.Repeat(string(period), 2))
		return newProject(string(period), func(i int) string { return folders + "/" + string(text[i%83:i%83+1+i/83]) })
	}
	for name, p := range map[string]project{
		"usual": newProject("Change src/app.tsx. ", func(i int) string {
			return fmt.Sprintf("/src/component%d/index.tsx", i)
		}),
		"equal names": newProject(folders+folders[:250]+" ", func(i int) string {
			return fmt.Sprintf("/%04d", i) + folders + folders
		}),
		"links":   newProject("a://b ", func(i int) string { return fmt.Sprintf("/%04d", i) + folders + "/b" }),
		"joining": newProject(".", func(i int) string { return fmt.Sprintf("/%d/...", i) }),
		"letters": substrings('a'),
		"words":   substrings('一'),
		"large":   substrings(0x20000),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				prompt.Mentioned(p.message, p.paths)
			}
		})
	}
}
