package action

import "strings"

const crlf = "\r\n"

// manyTimes is where the counting of occurrences ends.
const manyTimes = 100

// replaceOnce puts replace in the place of search, which has to occur once; places that overlap are two.
func replaceOnce(path, content, search, replace string) (string, error) {
	switch search {
	case "":
		return "", problemf("The search is empty. To rewrite %s use update_file.", path)
	case replace:
		return "", problemf("The search and the replacement for %s are the same: nothing would change.", path)
	}
	switch times := occurrences(content, search); {
	case times == 0:
		return "", problemf("The search does not occur in %s%s. It must be there character for character, indentation included.", path, whyAbsent(content, search))
	case times >= manyTimes:
		return "", problemf("The search occurs %d times or more in %s. It must occur exactly once: take in more of what is around the place.", manyTimes, path)
	case times > 1:
		return "", problemf("The search occurs %d times in %s. It must occur exactly once: take in more of what is around the place.", times, path)
	}
	return strings.Replace(content, search, replace, 1), nil
}

// occurrences counts the places where search is, up to manyTimes.
func occurrences(content, search string) int {
	n := 0
	for n < manyTimes {
		at := strings.Index(content, search)
		if at < 0 {
			break
		}
		n++
		content = content[at+1:]
	}
	return n
}

// whyAbsent guesses why a search does not occur, for the sentence that says so.
func whyAbsent(content, search string) string {
	switch {
	case strings.Contains(search, crlf) && strings.Contains(content, strings.ReplaceAll(search, crlf, "\n")):
		return " with line breaks CR LF; the file has LF"
	case onlyWords(search) != "" && strings.Contains(onlyWords(content), onlyWords(search)):
		return " with just this white space"
	}
	return ""
}

// onlyWords is a text whose white space counts no more.
func onlyWords(text string) string { return strings.Join(strings.Fields(text), " ") }

// lineEnding is that of a text all of whose lines end alike: CR LF, LF, or nothing if there is none or they differ.
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

// toCRLF ends the lines of a text with CR LF, which models hardly ever write, although they are shown it.
func toCRLF(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, crlf, "\n"), "\n", crlf)
}
