package prompt

import (
	"regexp"
	"strings"

	"devplatform/shared/assistant/model"
)

// Generate returns the request for one block of code and a short explanation. language and framework may be empty.
// maxOutput is in tokens.
func Generate(prompt, language, framework string, maxOutput int) model.Request {
	text := ""
	if language != "" {
		text += "language: " + quoteName(language) + "\n"
	}
	if framework != "" {
		text += "framework: " + quoteName(framework) + "\n"
	}
	if text != "" {
		text += "\n"
	}
	return model.Request{
		Task: model.TaskGenerate, System: generateInstruction, MaxOutput: maxOutput,
		Messages: []model.Message{{Role: model.User, Text: text + orNoText(clean(prompt))}},
		Subject:  model.Subject{Prompt: prompt, Framework: framework},
	}
}

// fenceLine matches a line that may open or close a fenced block. Groups: indentation, fence, the text after it.
var fenceLine = regexp.MustCompile("^( {0,3})(`{3,}|~{3,})[ \t]*(.*?)[ \t]*$")

// MainBlock returns the code of the first fenced block of a Markdown text (CommonMark 0.31, section 4.5), the block's
// language, and the text before and after the block. Without a block, the code and the language are empty. A block that
// is not closed extends to the end of the text. Every line of the code ends with LF.
func MainBlock(markdown string) (code, language, around string) {
	var block, before strings.Builder
	indent, fence := 0, "" // of the open block
	markdown = strings.TrimSuffix(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(markdown), "\n")
	for rest, more := markdown, true; more; {
		var line string
		line, rest, more = strings.Cut(rest, "\n")
		found := fenceLine.FindStringSubmatch(line)
		switch {
		case fence == "" && found != nil && (found[2][0] == '~' || !strings.Contains(found[3], "`")):
			indent, fence = len(found[1]), found[2]
			language, _, _ = strings.Cut(strings.ReplaceAll(found[3], "\t", " "), " ")
		case fence == "":
			before.WriteString(line + "\n")
		case found != nil && found[3] == "" && strings.HasPrefix(found[2], fence):
			around = strings.TrimSpace(strings.TrimSpace(before.String()) + "\n\n" + strings.TrimSpace(rest))
			return block.String(), language, around
		default:
			block.WriteString(withoutIndent(line, indent) + "\n")
		}
	}
	return block.String(), language, strings.TrimSpace(before.String())
}

// withoutIndent removes up to indent spaces from the beginning of a line.
func withoutIndent(line string, indent int) string {
	for ; indent > 0 && strings.HasPrefix(line, " "); indent-- {
		line = line[1:]
	}
	return line
}
