// Package path has the rules for file paths in a project: which texts are valid paths, which folders a path has, and
// which content type belongs to its extension. It knows nothing of files but their paths.
package path

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxBytes is the largest length of a path.
const MaxBytes = 512

const separator = "/"

// Check returns the first rule that a path breaks, for people, or "" if the path is valid. It never quotes the path.
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

// Ancestors returns the folders of a path, the topmost first: /a and /a/b for /a/b/c. While a file exists at the path,
// none of them can be a file.
func Ancestors(path string) []string {
	var folders []string
	for i := 1; i < len(path); i++ {
		if path[i] == separator[0] {
			folders = append(folders, path[:i])
		}
	}
	return folders
}

// Inside returns the prefix of all paths that are inside path as a folder.
func Inside(path string) string { return path + separator }
