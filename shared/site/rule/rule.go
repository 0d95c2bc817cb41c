// Package rule implements the rules of a site: the files _redirects and _headers, as at Netlify and Cloudflare Pages. A
// build parses them, and stores the rules with the manifest of the deployment. The server of the sites applies them to
// each request. The result of a rule depends only on the rule, the path and the query. So the package must not depend
// on HTTP, deployments and storage.
//
//	rule.go       the lines and the patterns of paths, which both files have
//	redirects.go  parses _redirects, and builds the target of a redirect
//	headers.go    parses _headers, and chooses the headers of a response
//
// Rules come from users, and paths from visitors. A visitor must not be able to choose the host of a redirect, to add a
// header, or to make the server work for long. So the values that visitors send are escaped and limited, and a target
// contains them only after the first slash of its path.
package rule

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The names of the files, in the root folder of a site.
const (
	RedirectsFile = "/_redirects"
	HeadersFile   = "/_headers"
)

const (
	// maxRules is the maximum number of rules of a file.
	maxRules = 100
	// maxFile is the maximum size of a file in bytes.
	maxFile = 512 << 10
	// maxLine is the maximum length of a line in bytes.
	maxLine = 4 << 10
	// maxPattern is the maximum length of a pattern in bytes. The paths of files are not longer.
	maxPattern = 512
	// maxWarnings is the maximum number of warnings about a file. One more warning has the number of further lines.
	maxWarnings = 30
)

// Warning says why a line of a file has no effect.
type Warning struct {
	Line int // counted from 1
	Text string
}

// parseLines calls parse with each line of a file, without surrounding blanks. It skips empty lines and comments. An
// error of parse is a warning about the line.
func parseLines(data []byte, parse func(line string) error) (warnings []Warning) {
	if len(data) > maxFile {
		text := fmt.Sprintf("The file has more than %d KiB. The rest of the file has no effect.", maxFile>>10)
		warnings = append(warnings, Warning{1, text})
		data = data[:bytes.LastIndexByte(data[:maxFile], '\n')+1]
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	number, omitted, first := 0, 0, 0 // the line; the number of the warnings beyond maxWarnings, and the line of the first
	for raw := range bytes.Lines(data) {
		number++
		line := bytes.Trim(raw, " \t\r\n")
		var err error
		switch {
		case len(line) == 0 || line[0] == '#':
		case len(line) > maxLine:
			err = fmt.Errorf("the line is longer than %d bytes", maxLine)
		case !utf8.Valid(line):
			err = errNotUTF8
		default:
			err = parse(string(line))
		}
		switch {
		case err == nil:
		case len(warnings) < maxWarnings:
			warnings = append(warnings, Warning{number, "This line has no effect: " + err.Error() + "."})
		default:
			omitted++
			first = cmp.Or(first, number)
		}
	}
	if omitted > 0 {
		text := fmt.Sprintf("This line and %d further lines have no effect.", omitted-1)
		warnings = append(warnings, Warning{first, text})
	}
	return warnings
}

// A pattern is a path whose segments can be placeholders, such as "/blog/:slug". "*" at its end matches the rest of the
// path, which may be empty, and is the placeholder "splat". A slash at the end of a pattern or of a path does not
// matter.
//
// Patterns are stored decoded, in the form in which they are compared with a path. parsePattern refuses patterns that
// would be ambiguous in this form.

var (
	errNotUTF8 = errors.New("it is not valid UTF-8")
	errPath    = errors.New("the path must begin with one slash")
	errQuery   = errors.New("a path has no query and no fragment, so write ? and # as %3F and %23")
	errEscape  = errors.New("% must be followed by two hexadecimal digits")
	errBlank   = errors.New("a path has no blanks, so write them as %20")
	errSplat   = errors.New("* is allowed once, at the end of the path")
	errColon   = errors.New("a placeholder such as :name is a whole segment of the path, with letters, digits and _")
	errDots    = errors.New("the segments . and .. are not allowed")
	errControl = errors.New("control characters and backslashes are not allowed")
)

// splat is the name of the placeholder "*".
const splat = "splat"

var placeholderName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// parsePattern checks a pattern, and returns the form that is stored.
func parsePattern(text string) (string, error) {
	switch {
	case !strings.HasPrefix(text, "/") || strings.Contains(text, "//"):
		return "", errPath
	case strings.ContainsAny(text, "?#"):
		return "", errQuery
	case strings.ContainsFunc(text, unicode.IsSpace):
		return "", errBlank
	case len(text) > maxPattern:
		return "", fmt.Errorf("the path is longer than %d bytes", maxPattern)
	}
	rest, hasSplat := strings.CutSuffix(text, "*")
	names := map[string]bool{splat: hasSplat}
	segments := strings.Split(rest[1:], "/")
	for i, segment := range segments {
		if name, ok := strings.CutPrefix(segment, ":"); ok {
			switch {
			case !placeholderName.MatchString(name) || hasSplat && i == len(segments)-1:
				return "", errColon
			case names[name]:
				return "", fmt.Errorf("the placeholder :%s occurs twice", name)
			}
			names[name] = true
			continue
		}
		var err error
		if segments[i], err = parseSegment(segment); err != nil {
			return "", err
		}
	}
	pattern := "/" + strings.Join(segments, "/")
	if hasSplat {
		return pattern + "*", nil
	}
	if pattern != "/" {
		pattern = strings.TrimSuffix(pattern, "/")
	}
	return pattern, nil
}

// parseSegment decodes a segment that is not a placeholder.
func parseSegment(text string) (string, error) {
	if strings.Contains(text, "*") {
		return "", errSplat
	}
	segment, err := url.PathUnescape(text)
	switch {
	case err != nil:
		return "", errEscape
	case hasControl(segment):
		return "", errControl
	case isDots(segment):
		return "", errDots
	case strings.HasPrefix(segment, ":"):
		return "", errColon
	case strings.ContainsAny(segment, "/*"):
		return "", errors.New("%2F and %2A are not allowed in this path")
	}
	return segment, nil
}

// hasControl reports whether a text has characters that browsers remove from URLs, or read as a slash.
func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' })
}

func isDots(segment string) bool { return segment == "." || segment == ".." }

// value is the value of a placeholder, not escaped.
type value struct{ name, text string }

// match reports whether a pattern matches a path. If values is not nil, it appends the values of the placeholders.
func match(pattern, path string, values *[]value) bool {
	if pattern == "" || path == "" || path[0] != '/' {
		return false
	}
	pattern, path = pattern[1:], path[1:]
	for {
		segment, patternRest, isPatternMore := strings.Cut(pattern, "/")
		if prefix, ok := strings.CutSuffix(segment, "*"); ok && !isPatternMore {
			rest, ok := strings.CutPrefix(path, prefix)
			addValue(values, splat, rest)
			return ok
		}
		part, pathRest, isPathMore := strings.Cut(path, "/")
		switch name, isPlaceholder := strings.CutPrefix(segment, ":"); {
		case isPlaceholder && part != "":
			addValue(values, name, part)
		case isPlaceholder || segment != part:
			return false
		}
		switch {
		case !isPatternMore:
			return !isPathMore || pathRest == ""
		case !isPathMore && patternRest == "*":
			addValue(values, splat, "")
			return true
		case !isPathMore:
			return false
		}
		pattern, path = patternRest, pathRest
	}
}

func addValue(values *[]value, name, text string) {
	if values != nil {
		*values = append(*values, value{name, text})
	}
}
