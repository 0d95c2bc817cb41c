package action

import "strings"

const crlf = "\r\n"

// replaceOnce replaces the only occurrence of search. It returns a problem if search does not occur exactly once.
// Occurrences that overlap count separately.
func replaceOnce(path, content, search, replace string) (string, error) {
	switch search {
	case "":
		return "", problemf("The search is empty. To rewrite %s use update_file.", path)
	case replace:
		return "", problemf("The search and the replacement for %s are the same, so nothing would change.", path)
	}
	switch first, last := strings.Index(content, search), strings.LastIndex(content, search); {
	case first < 0:
		return "", problemf("The search does not occur in %s%s. "+
			"It must match the file character for character, including the indentation.",
			path, mismatch(content, search))
	case first != last:
		return "", problemf("The search occurs more than once in %s. "+
			"It must occur exactly once: include more of the lines around it.", path)
	}
	return strings.Replace(content, search, replace, 1), nil
}

// mismatch returns the probable difference between the content and a search that does not occur in it, or "". The
// returned text is the end of a sentence that begins with "The search does not occur in a.ts".
func mismatch(content, search string) string {
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	switch {
	case strings.Contains(search, crlf) && strings.Contains(content, strings.ReplaceAll(search, crlf, "\n")):
		return " with line breaks CR LF; the file has LF"
	case words(search) != "" && strings.Contains(words(content), words(search)):
		return " with exactly this white space"
	}
	return ""
}

// lineEnding returns the line ending of a text, LF or CR LF. It returns "" if the text has no line breaks or both
// kinds.
func lineEnding(text string) string {
	breaks, pairs := strings.Count(text, "\n"), strings.Count(text, crlf)
	switch {
	case breaks == 0 || (pairs > 0 && pairs < breaks):
		return ""
	case pairs == breaks:
		return crlf
	}
	return "\n"
}

// toCRLF converts all line endings to CR LF. Models rarely write CR LF, even if the file that they were shown has it.
func toCRLF(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, crlf, "\n"), "\n", crlf)
}
