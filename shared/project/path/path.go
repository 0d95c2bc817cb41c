// Package path has the rules for file paths in a project: which strings are valid paths, and which parent folders a
// path has. It does not access files.
package path

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"devplatform/shared/invisible"
)

const (
	// MaxBytes is the maximum length of a path, in bytes of UTF-8.
	MaxBytes = 512
	// MaxSegmentBytes is the maximum length of a segment, in bytes, because common file systems do not store longer names.
	MaxSegmentBytes = 255
)

const separator = "/"

// CheckNew returns the first rule that the path of a new file breaks, or "" if the path is valid. Unlike Check, it
// refuses invisible and direction-changing characters, with which a text can look like another path. The returned text
// does not contain the path.
func CheckNew(path string) string {
	if rule := Check(path); rule != "" {
		return rule
	}
	return invisible.Check(path)
}

// Check returns the first rule that the path of a file breaks, or "" if the path is valid. The returned text does not
// contain the path.
func Check(path string) string {
	switch {
	case path == "":
		return "must not be empty"
	case !utf8.ValidString(path):
		return "must be valid UTF-8"
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
		switch {
		case segment == "":
			return "must not contain empty segments or end with a slash"
		case segment == ".", segment == "..":
			return "must not contain . or .. segments"
		case len(segment) > MaxSegmentBytes:
			return "must have at most 255 bytes (UTF-8) between two slashes"
		}
	}
	return ""
}

// Ancestors returns the parent folders of a path, topmost first: /a and /a/b for /a/b/c. If a file exists at the path,
// no file can exist at the path of a parent folder.
func Ancestors(path string) []string {
	var folders []string
	for i := 1; i < len(path); i++ {
		if path[i] == separator[0] {
			folders = append(folders, path[:i])
		}
	}
	return folders
}

// Parent returns the folder of a path, or "" for a path such as /a.
func Parent(path string) string { return path[:max(strings.LastIndex(path, separator), 0)] }

// Inside returns the common prefix of all paths inside the folder at path.
func Inside(path string) string { return path + separator }
