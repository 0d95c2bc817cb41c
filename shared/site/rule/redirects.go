package rule

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Redirect is a rule of _redirects.
type Redirect struct {
	From string `json:"from"` // a pattern
	// To is a path of the site or an https URL, escaped. It can have placeholders of From after the host.
	To string `json:"to"`
	// Status is the status of a redirect, or 200 or 404 if the rule shows a file of the site.
	Status int `json:"status"`
}

// showsFile reports whether a rule shows a file of the site, instead of a redirect.
func (r Redirect) showsFile() bool {
	return r.Status == http.StatusOK || r.Status == http.StatusNotFound
}

// maxPlaceholders is the maximum number of placeholders in the target of a rule, whose values can be long.
const maxPlaceholders = 20

// statuses are the allowed statuses.
var statuses = []int{
	http.StatusOK, http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
	http.StatusPermanentRedirect, http.StatusNotFound,
}

var (
	errFields = errors.New("a rule has the form \"from to [status]\", such as \"/old /new 301\"")
	errStatus = errors.New("the status must be 200, 301, 302, 303, 307, 308 or 404")
	errForced = errors.New("a file of the site always comes first, so ! after a status is not supported")
	errLoop   = errors.New("it leads to itself")

	errPlaceholders = fmt.Errorf("the target has more than %d placeholders", maxPlaceholders)
)

// ParseRedirects parses a file _redirects. hasFile reports whether the site has a file for a path.
func ParseRedirects(data []byte, hasFile func(path string) bool) (rules []Redirect, warnings []Warning) {
	p := &parser{}
	p.parse(data, func(line string) error {
		r, err := parseRedirect(line)
		switch {
		case err != nil:
			return err
		case len(rules) == maxRules:
			return fmt.Errorf("only the first %d rules are used", maxRules)
		}
		if path, ok := r.file(nil); ok && !placeholders.MatchString(r.To) && !hasFile(path) {
			return fmt.Errorf("the site has no file for %s", path)
		}
		rules = append(rules, r)
		return nil
	})
	return rules, p.allWarnings()
}

func parseRedirect(line string) (r Redirect, err error) {
	fields := strings.Fields(line)
	if i := slices.IndexFunc(fields, func(f string) bool { return strings.HasPrefix(f, "#") }); i >= 0 {
		fields = fields[:i] // a comment
	}
	if len(fields) < 2 || len(fields) > 3 {
		return r, errFields
	}
	r.Status = http.StatusMovedPermanently
	if len(fields) == 3 {
		if r.Status, err = strconv.Atoi(fields[2]); err != nil || !slices.Contains(statuses, r.Status) {
			if strings.HasSuffix(fields[2], "!") {
				return r, errForced
			}
			return r, errStatus
		}
	}
	if r.From, err = parsePattern(fields[0]); err != nil {
		return r, err
	}
	if r.To, err = parseTarget(fields[1], r.showsFile()); err != nil {
		return r, err
	}
	names := placeholders.FindAllString(r.To, -1)
	if len(names) > maxPlaceholders {
		return r, errPlaceholders
	}
	for _, name := range names {
		if !hasPlaceholder(r.From, name[1:]) {
			return r, fmt.Errorf("%s does not occur in the first path; write %%3A for a colon", name)
		}
	}
	if _, ok := r.location(nil, Request{Path: r.From}); !ok && !r.showsFile() {
		return r, errLoop
	}
	return r, nil
}

func hasPlaceholder(pattern, name string) bool {
	return name == splat && strings.HasSuffix(pattern, "*") ||
		slices.Contains(strings.Split(pattern, "/"), ":"+name)
}

// Result is the response that a rule defines.
type Result struct {
	Status   int
	File     string // the path of a file, "" if the rule is a redirect
	Location string // of a redirect
}

// Request is a request for a path without a file.
type Request struct {
	Path  string // not escaped
	Query string // as the client sent it
	// Below limits the rules to patterns that begin with this path. "" means all rules.
	Below string
}

// Apply returns the result of the first rule that matches a request. A rule does not match if its file does not exist,
// or if it would redirect the path to itself. find returns the path of the file that a path shows, "" if there is none.
func Apply(rules []Redirect, r Request, find func(path string) string) (Result, bool) {
	if len(rules) == 0 || slices.ContainsFunc(strings.Split(r.Path, "/"), isDots) {
		return Result{}, false // a browser would leave the folder to which a rule leads
	}
	var values []value
	for _, rule := range rules {
		values = values[:0]
		if !strings.HasPrefix(rule.From, r.Below) || !match(rule.From, r.Path, &values) || rule.isTooLong(values) {
			continue
		}
		if rule.showsFile() {
			if path, ok := rule.file(values); ok {
				if file := find(path); file != "" {
					return Result{Status: rule.Status, File: file}, true
				}
			}
			continue
		}
		if location, ok := rule.location(values, r); ok {
			return Result{Status: rule.Status, Location: location}, true
		}
	}
	return Result{}, false
}

// placeholders matches a placeholder in the target of a rule.
var placeholders = regexp.MustCompile(`:[A-Za-z][A-Za-z0-9_]*`)
