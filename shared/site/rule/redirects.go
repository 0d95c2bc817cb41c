package rule

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
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
	warnings = parseLines(data, func(line string) error {
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
	return rules, warnings
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

const (
	// MaxLocation is the maximum length of the header Location in bytes. API Gateway limits all headers to 10,240 bytes.
	MaxLocation = 8 << 10
	// maxTarget is the maximum length of the target of a rule in bytes.
	maxTarget = 2 << 10
)

var (
	errTarget = errors.New("the target must be a path that begins with one slash, or a URL that begins with https://")
	errHost   = errors.New("the host of the target must be a name, such as example.com, without placeholders, user or " +
		"letters that are not ASCII")
	errFileTarget    = errors.New("with the status 200 or 404, the target must be a path of the site, without a query")
	errTargetTooLong = fmt.Errorf("the target is longer than %d bytes", maxTarget)
)

// hostName is a host name with an optional port.
var hostName = regexp.MustCompile(`^(?i)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:[0-9]{1,5})?$`)

// target is the parts of Redirect.To. They are escaped and can have placeholders, except the origin.
type target struct {
	origin   string // such as "https://example.com", or "" for a path of the site
	path     string // begins with a slash
	query    string // with "?", or ""
	fragment string // with "#", or ""
}

// splitTarget returns the parts of a target that parseTarget returned.
func splitTarget(text string) (t target) {
	if rest, ok := strings.CutPrefix(text, httpsScheme); ok {
		end := strings.IndexByte(rest, '/')
		t.origin, text = httpsScheme+rest[:end], rest[end:]
	}
	if i := strings.IndexByte(text, '#'); i >= 0 {
		text, t.fragment = text[:i], text[i:]
	}
	if i := strings.IndexByte(text, '?'); i >= 0 {
		text, t.query = text[:i], text[i:]
	}
	t.path = text
	return t
}

const httpsScheme = "https://"

// parseTarget checks the target of a rule, and returns the form that is stored.
func parseTarget(text string, isFile bool) (string, error) {
	if len(text) > maxTarget {
		return "", errTargetTooLong
	}
	origin := ""
	if len(text) >= len(httpsScheme) && strings.EqualFold(text[:len(httpsScheme)], httpsScheme) {
		rest := text[len(httpsScheme):]
		end := strings.IndexAny(rest+"/", "/?#")
		if !hostName.MatchString(rest[:end]) {
			return "", errHost
		}
		origin, text = httpsScheme+strings.ToLower(rest[:end]), rest[end:]
		if !strings.HasPrefix(text, "/") {
			text = "/" + text
		}
	}
	switch {
	case !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//"):
		return "", errTarget
	case isFile && (origin != "" || strings.ContainsAny(text, "?#")):
		return "", errFileTarget
	case hasControl(text):
		return "", errControl
	}
	text, err := normalize(text)
	if err != nil {
		return "", err
	}
	for segment := range strings.SplitSeq(splitTarget(text).path, "/") {
		if plain, _ := url.PathUnescape(segment); isDots(plain) {
			return "", errDots
		}
	}
	return origin + text, nil
}

// normalize escapes the bytes that a URL must not contain. It returns an error for an invalid escape sequence.
func normalize(text string) (string, error) {
	for i := range len(text) {
		if text[i] == '%' && (i+2 >= len(text) || !isHex(text[i+1]) || !isHex(text[i+2])) {
			return "", errEscape
		}
	}
	path, fragment, hasFragment := strings.Cut(text, "#")
	path, fragment = escapeRest(path), escapeRest(fragment)
	if hasFragment {
		return path + "#" + fragment, nil
	}
	return path, nil
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

// escapeRest escapes the bytes of a part of a URL that a URL must not contain, and keeps all others.
func escapeRest(text string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"#<>\\^`{|}", c) >= 0 {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Location returns the value of the header Location for a path of the site, which is not escaped, and a query. ok is
// false if it would be too long.
func Location(path, query string) (location string, ok bool) {
	location = (&url.URL{Path: path}).EscapedPath()
	return withQuery(location, query, "")
}

// withQuery adds the query of a request, which may be hostile, and a fragment to a URL.
func withQuery(location, query, fragment string) (string, bool) {
	if query != "" {
		separator := "?"
		if strings.Contains(location, "?") {
			separator = "&"
		}
		location += separator + escapeRest(query)
	}
	location += fragment
	return location, len(location) <= MaxLocation
}

// location returns the value of the header Location, for the values of the placeholders. ok is false if it would be too
// long, or lead to the path of the request.
func (r Redirect) location(values []value, request Request) (location string, ok bool) {
	t := splitTarget(r.To)
	path := oneSlash(substitute(t.path, values, escapePath))
	if plain, err := url.PathUnescape(path); t.origin == "" && (err != nil || plain == request.Path) {
		return "", false
	}
	query, fragment := substitute(t.query, values, url.QueryEscape), substitute(t.fragment, values, url.PathEscape)
	return withQuery(t.origin+path+query, request.Query, fragment)
}

// file returns the path of the file that a rule shows, for the values of the placeholders, not escaped.
func (r Redirect) file(values []value) (path string, ok bool) {
	if !r.showsFile() {
		return "", false
	}
	path, err := url.PathUnescape(oneSlash(substitute(r.To, values, escapePath)))
	return path, err == nil
}

// oneSlash removes all slashes at the start of a path except one. Browsers read what follows two slashes as a host.
func oneSlash(path string) string { return "/" + strings.TrimLeft(path, "/") }

// substitute replaces the placeholders in a part of a target.
func substitute(text string, values []value, escape func(string) string) string {
	escaped := make([]string, len(values)) // each value once: a placeholder can occur many times
	return placeholders.ReplaceAllStringFunc(text, func(name string) string {
		i := indexOf(values, name)
		if i < 0 {
			return name
		}
		if escaped[i] == "" {
			escaped[i] = escape(values[i].text)
		}
		return escaped[i]
	})
}

// indexOf returns the index of the value of a placeholder such as ":slug", -1 if it has none.
func indexOf(values []value, placeholder string) int {
	return slices.IndexFunc(values, func(v value) bool { return v.name == placeholder[1:] })
}

// isTooLong reports whether the target would be longer than MaxLocation with these values, even before they are
// escaped.
func (r Redirect) isTooLong(values []value) bool {
	size := len(r.To)
	for _, placeholder := range placeholders.FindAllString(r.To, -1) {
		if i := indexOf(values, placeholder); i >= 0 {
			size += len(values[i].text) - len(placeholder)
		}
	}
	return size > MaxLocation
}

// escapePath escapes a value for the path of a URL. It keeps slashes, which only the value of "*" has.
func escapePath(text string) string {
	segments := strings.Split(text, "/")
	for i, segment := range segments {
		segments[i] = url.PathEscape(segment)
	}
	return strings.Join(segments, "/")
}
