// Package rule implements the rules of a site: the files _redirects and _headers, as at Netlify and Cloudflare Pages. A
// build parses them, and stores the rules with the manifest of the deployment. The server of the sites applies them to
// each request. The result of a rule depends only on the rule, the path and the query. So the package must not depend
// on HTTP, deployments and storage.
//
//	pattern.go    the patterns of paths, which both files use
//	redirects.go  parses _redirects
//	location.go   builds the target of a redirect
//	headers.go    parses _headers, and chooses the headers of a response
//
// Rules come from users, and paths from visitors. A visitor must not be able to choose the host of a redirect, to add a
// header, or to make the server work for long. So the values that visitors send are escaped and limited, and a target
// contains them only after the first slash of its path.
package rule

import (
	"bytes"
	"fmt"
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
	// maxFile is the maximum size of a file.
	maxFile = 512 << 10
	// maxLine is the maximum length of a line.
	maxLine = 4 << 10
	// maxPattern is the maximum length of a pattern. The paths of files are not longer.
	maxPattern = 512
	// maxWarnings is the maximum number of warnings about a file. One more warning has the number of further lines.
	maxWarnings = 30
)

// Warning says why a line of a file has no effect.
type Warning struct {
	Line int // counted from 1
	Text string
}

// parser reads a file line by line and collects warnings.
type parser struct {
	warnings []Warning
	line     int // the number of the line
	omitted  int // the number of the warnings beyond maxWarnings
	first    int // the line of the first omitted warning
}

// parse calls f with each line of a file that is not empty or a comment, without blanks around it. An error of f is a
// warning about the line.
func (p *parser) parse(data []byte, f func(line string) error) {
	if len(data) > maxFile {
		text := fmt.Sprintf("The file has more than %d KiB. The rest of the file has no effect.", maxFile>>10)
		p.warnings = append(p.warnings, Warning{1, text})
		data = data[:bytes.LastIndexByte(data[:maxFile], '\n')+1]
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for raw := range bytes.Lines(data) {
		p.line++
		line := bytes.Trim(raw, " \t\r\n")
		switch {
		case len(line) == 0 || line[0] == '#':
		case len(line) > maxLine:
			p.warn(fmt.Errorf("the line is longer than %d bytes", maxLine))
		case !utf8.Valid(line):
			p.warn(errNotUTF8)
		default:
			p.warn(f(string(line)))
		}
	}
}

// warn adds a warning if err is not nil.
func (p *parser) warn(err error) {
	switch {
	case err == nil:
	case len(p.warnings) < maxWarnings:
		p.warnings = append(p.warnings, Warning{p.line, "This line has no effect: " + err.Error() + "."})
	default:
		if p.omitted == 0 {
			p.first = p.line
		}
		p.omitted++
	}
}

// allWarnings returns the warnings. If some were omitted, the last warning has their number.
func (p *parser) allWarnings() []Warning {
	if p.omitted > 0 {
		text := fmt.Sprintf("This line and %d further lines have no effect.", p.omitted-1)
		return append(p.warnings, Warning{p.first, text})
	}
	return p.warnings
}
