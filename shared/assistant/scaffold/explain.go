package scaffold

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"devplatform/shared/assistant/model"
)

// explain says what is in the files that the words name, as far as their form shows it.
func (c *conversation) explain(in intent) {
	paths := c.filesToExplain(in)
	for _, p := range paths[:min(len(paths), 5)] {
		f, ok := c.facts.file(p)
		if !ok {
			c.say("`%s` is in the project, but I was not given its content: open it, or name its full path.", p)
			continue
		}
		c.used(p)
		c.say("%s", describe(f))
	}
}

// filesToExplain are the files that a question is about; none if it is about something else.
func (c *conversation) filesToExplain(in intent) []string {
	var found []string
	named := false
	for _, w := range in.files[:min(len(in.files), maxFileWords)] {
		if !w.isPath() && !w.quoted && !w.isCamel() {
			continue
		}
		at := c.facts.find(w)
		if len(at) == 0 {
			at = c.facts.findStem(parts(w.text))
		}
		if len(at) == 0 && !w.isPath() {
			continue
		}
		named = true
		switch len(at) {
		case 0:
			c.sayMissing(w)
		case 1:
			found = append(found, at[0])
		default:
			c.say("%s could be %s. Name the full path of the one you mean.", code(w.text), codeList(at[:min(len(at), 8)]))
		}
	}
	if named {
		return found
	}
	if at := c.facts.findStem(nameOf(withoutFileWords(in.files), true)); len(at) == 1 {
		return at
	}
	if c.facts.CurrentFile != "" && isAboutCurrent(in.files) {
		return []string{c.facts.CurrentFile}
	}
	if isAboutCurrent(in.files) && slices.ContainsFunc(in.files, func(w word) bool { return w.is(setOf("file this code")) }) {
		c.say("Which file? Name it, such as “explain src/App.jsx”, or open it.")
	}
	return nil
}

// questionWords are those of a question about a file that name nothing.
var questionWords = setOf("does do is are in it this that the current open file code component module script page me to through work works working " +
	"contain contains mean means going on here happening happens for used what how please a of about content contents inside, inside s whole")

// isAboutCurrent reports a question that names nothing: "what does this file do".
func isAboutCurrent(words []word) bool {
	return !slices.ContainsFunc(words, func(w word) bool { return !w.is(questionWords) && !w.is(fillers) })
}

func withoutFileWords(words []word) []word {
	return slices.DeleteFunc(slices.Clone(words), func(w word) bool {
		return w.is(fileWords) || w.is(folderWords) || w.is(questionWords) || w.is(setOf("hook helper store form route table list test"))
	})
}

// outlineFor is the language of an extension and how its form is read; nil where it is not.
func outlineFor(ext string) (language string, read func(content string) []string) {
	switch ext {
	case ".go":
		return "Go", outlineGo
	case ".js", ".mjs", ".cjs":
		return "JavaScript", outlineScript
	case ".jsx":
		return "JavaScript with JSX", outlineScript
	case ".ts", ".mts", ".cts":
		return "TypeScript", outlineScript
	case ".tsx":
		return "TypeScript with JSX", outlineScript
	case ".vue":
		return "Vue", outlineVue
	case ".svelte":
		return "Svelte", outlineSvelte
	case ".html", ".htm":
		return "HTML", outlineHTML
	case ".css", ".scss", ".less":
		return strings.ToUpper(ext[1:]), outlineCSS
	case ".json":
		return "JSON", outlineJSON
	case ".md", ".markdown", ".mdx":
		return "Markdown", outlineMarkdown
	}
	return otherLanguages.of(ext), nil
}

// otherLanguages are those that are known by name only.
var otherLanguages = lazily(func() map[string]string {
	return map[string]string{
		".py": "Python", ".rb": "Ruby", ".rs": "Rust", ".java": "Java", ".kt": "Kotlin", ".swift": "Swift", ".php": "PHP", ".c": "C", ".h": "C", ".cpp": "C++",
		".cs": "C#", ".sh": "a shell script", ".yaml": "YAML", ".yml": "YAML", ".toml": "TOML", ".sql": "SQL", ".xml": "XML", ".svg": "SVG", ".txt": "plain text",
		".csv": "CSV", ".graphql": "GraphQL", ".mod": "a Go module's manifest", ".env": "environment variables",
	}
})

// describe is what a file's form says of it.
func describe(f model.File) string {
	content := strings.ToValidUTF8(f.Content, "�")
	ext := strings.ToLower(path.Ext(f.Path))
	language, read := outlineFor(ext)
	var b strings.Builder
	fmt.Fprintf(&b, "`%s` is %s, %s.", f.Path, firstOf(language, "a kind of file that I don't know"), plural(lineCount(content), "line"))
	if f.Cut {
		b.WriteString(" It is long, and I was given only a part of it; this is about that part.")
	}
	var points []string
	if read != nil {
		points = read(content)
	}
	if len(points) == 0 {
		b.WriteString(" I can't read more out of its form.")
		return b.String()
	}
	b.WriteString(" By its form (I don't read what it means):\n")
	for _, p := range points {
		b.WriteString("\n- " + p)
	}
	return b.String()
}

func lineCount(content string) int {
	if content == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(content, "\n"), "\n") + 1
}

// plural is a number of things.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") {
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// most is how many names a line of an outline lists.
const most = 12

// point is a line of an outline: names as code, the first of them where there are many; empty without any.
func point(label string, names []string) []string {
	names = unique(names)
	if len(names) == 0 {
		return nil
	}
	shown := make([]string, min(len(names), most))
	for i := range shown {
		shown[i] = code(clip(names[i], 90))
	}
	text := label + ": " + strings.Join(shown, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return []string{text}
}

// unique drops repetitions and keeps the order.
func unique(names []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}
