package project

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Visibility says who sees a project (API.md §4).
type Visibility string

// The visibilities. Private is seen by its creator and by the workspace's admins and owners, Team by the workspace;
// Public is read by every signed-in user, files included.
const (
	Private Visibility = "private"
	Team    Visibility = "team"
	Public  Visibility = "public"
)

// Encoding is how a content travels in JSON.
type Encoding string

// The encodings.
const (
	UTF8   Encoding = "utf-8"
	Base64 Encoding = "base64"
)

// defaultFramework is a project's framework if none is given.
const defaultFramework = "static"

// checkFramework says what is wrong with a framework, its length apart, or "".
func checkFramework(framework string) string {
	if strings.ContainsFunc(framework, unicode.IsControl) {
		return "must not contain control characters"
	}
	return ""
}

// folded is a text for comparisons that ignore case, and how its accents are written.
func folded(s string) string { return strings.ToLower(strings.ToUpper(norm.NFC.String(s))) }
