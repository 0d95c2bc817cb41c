package prompt

import (
	"regexp"
	"strings"
)

// fenceLine is a line that may open or close a fenced block: indentation, fence, the rest.
var fenceLine = regexp.MustCompile("^( {0,3})(`{3,}|~{3,})[ \t]*(.*?)[ \t]*$")

// MainBlock is the first fenced block of a Markdown text (CommonMark 0.31, section 4.5), and the language that it says it is in;
// empty if there is none. A block without an end goes to the end of the text. Every line of the code ends with LF.
func MainBlock(markdown string) (code, language string) {
	code, language, _ = splitBlock(markdown)
	return code, language
}

// AroundMainBlock is what a Markdown text says before and behind its first fenced block.
func AroundMainBlock(markdown string) string {
	_, _, around := splitBlock(markdown)
	return around
}

func splitBlock(markdown string) (code, language, around string) {
	var block, before strings.Builder
	indent, fence := 0, ""
	markdown = strings.TrimSuffix(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(markdown), "\n")
	for rest, more := markdown, true; more; {
		var line, behind string
		line, behind, more = strings.Cut(rest, "\n")
		found := fenceLine.FindStringSubmatch(line)
		switch {
		case fence == "" && found != nil && (found[2][0] == '~' || !strings.Contains(found[3], "`")):
			indent, fence = len(found[1]), found[2]
			language, _, _ = strings.Cut(strings.ReplaceAll(found[3], "\t", " "), " ")
		case fence == "":
			before.WriteString(line + "\n")
		case found != nil && found[3] == "" && strings.HasPrefix(found[2], fence):
			return block.String(), language, strings.TrimSpace(strings.TrimSpace(before.String()) + "\n\n" + strings.TrimSpace(behind))
		default:
			block.WriteString(withoutIndent(line, indent) + "\n")
		}
		rest = behind
	}
	return block.String(), language, strings.TrimSpace(before.String())
}

// withoutIndent is a line of a block whose fence is indented: as much is taken from it, as far as it is there.
func withoutIndent(line string, indent int) string {
	for ; indent > 0 && strings.HasPrefix(line, " "); indent-- {
		line = line[1:]
	}
	return line
}
