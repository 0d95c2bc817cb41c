// Package path is the rules of file paths in a project: which text is a path, what a path runs through, which paths can't
// stand beside each other, and what kind of content a path's extension promises. It is pure: it knows no storage, no
// request, and of a file no more than its path.
package path

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxBytes is the length of the longest path.
const MaxBytes = 512

const separator = "/"

// Check is the first rule of API.md §5 that a path breaks, worded for people; "" if it is a path. The path itself is
// never quoted.
func Check(path string) string {
	switch {
	case path == "":
		return "must not be empty"
	case !utf8.ValidString(path):
		return "must be UTF-8 text"
	case len(path) > MaxBytes:
		return "must be at most 512 bytes long"
	case !strings.HasPrefix(path, separator):
		return "must begin with a slash"
	case strings.ContainsFunc(path, unicode.IsControl):
		return "must not contain control characters"
	case strings.Contains(path, `\`):
		return "must not contain a backslash"
	case !norm.NFC.IsNormalString(path):
		return "must be in Unicode normal form C (NFC)"
	}
	return checkSegments(path[len(separator):])
}

func checkSegments(rest string) string {
	for segment := range strings.SplitSeq(rest, separator) {
		switch segment {
		case "":
			return "must name a file: no empty segment, no slash at the end"
		case ".", "..":
			return "must not have a segment . or .."
		}
	}
	return ""
}

// Ancestors are the folders that a path runs through, the topmost first: /a and /a/b for /a/b/c. None of them can be a
// file beside it.
func Ancestors(path string) []string {
	var folders []string
	for i := 1; i < len(path); i++ {
		if path[i] == separator[0] {
			folders = append(folders, path[:i])
		}
	}
	return folders
}

// Inside is what every path begins with that runs through path as a folder.
func Inside(path string) string { return path + separator }
