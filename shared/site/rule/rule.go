// Package rule implements the rules of a site: the files _redirects and _headers, as at Netlify and Cloudflare Pages. A
// build parses them, and stores the rules with the manifest of the deployment. The server of the sites applies them to
// each request. What a rule does with a request only depends on the rule, the path and the query. So the package knows
// nothing of HTTP, deployments and storage.
//
//	pattern.go    the patterns of paths, which both files use
//	redirects.go  parses _redirects; location.go builds what a rule leads to
//	headers.go    parses _headers, and chooses the headers of a response
//
// Rules come from users, and paths from visitors. A visitor must not be able to choose the host of a redirect, to add a
// header, or to make the server work for long. So what visitors send is escaped, can only stand behind the first slash
// of a path, and has limits.
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
	// maxWarnings is the maximum number of warnings about a file. A last one counts the others.
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
	others   int // the number of the warnings beyond maxWarnings
	first    int // the line of the first of them
}

// parse calls f with each line of a file that is not empty or a comment, without blanks around it. An error of f is a
// warning about the line.
func (p *parser) parse(data []byte, f func(line string) error) {
	if len(data) > maxFile {
		text := fmt.Sprintf("The file has more than %d KiB. Its end has no effect.", maxFile>>10)
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
		if p.others++; p.others == 1 {
			p.first = p.line
		}
	}
}

// allWarnings returns the warnings, and a last one that counts the others.
func (p *parser) allWarnings() []Warning {
	if p.others > 0 {
		text := fmt.Sprintf("This line and %d more have no effect, for such reasons.", p.others-1)
		return append(p.warnings, Warning{p.first, text})
	}
	return p.warnings
}
