package rule

import (
	"errors"
	"fmt"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
)

// Headers is a rule of _headers: the headers of the responses to requests whose paths match a pattern.
type Headers struct {
	Path   string  `json:"path"` // a pattern
	Fields []Field `json:"fields"`
}

// Field is a header of a response.
type Field struct {
	Name  string `json:"name"` // in its canonical form
	Value string `json:"value"`
}

// size returns the number of bytes of the header's line.
func (f Field) size() int { return len(f.Name) + len(": ") + len(f.Value) + len("\r\n") }

const (
	// maxValue is the maximum length of the value of a header, in bytes.
	maxValue = 2 << 10
	// maxName is the maximum length of the name of a header, in bytes.
	maxName = 64
	// maxFields is the maximum number of headers of a rule.
	maxFields = 30
	// maxResponse is the maximum size of the headers that rules add to a response, in bytes.
	maxResponse = 8 << 10
)

var (
	// fieldName matches the names of headers.
	fieldName = regexp.MustCompile(`^[A-Za-z0-9-]+$`)
	// allowedNames matches the headers that rules can set.
	allowedNames = regexp.MustCompile(`^(Access-Control-.+|Content-Security-Policy(-Report-Only)?|Cross-Origin-.+-Policy|` +
		`Permissions-Policy|Referrer-Policy|X-Frame-Options|Link|Content-Language|Content-Disposition|X-.+)$`)
	// reservedNames matches the headers that the service, the gateway or a proxy between them and the visitor uses.
	reservedNames = regexp.MustCompile(`^X-(Content-Type-Options|Deployment-.+|Request-.+|Service-.+|Amz.*|Cache.*|Edge-.+|` +
		`Forwarded.*|Accel-.+|Sendfile.*|Real-Ip)$`)
)

var (
	errHeaderForm      = errors.New("a header has the form \"Name: value\", below a line with a path")
	errValue           = errors.New("the value must contain only visible ASCII characters and spaces")
	errNoPath          = errors.New("there is no valid path above the header")
	errTooManyHeaders  = fmt.Errorf("the path already has %d headers", maxFields)
	errURLPath         = errors.New("a rule begins with a path, not with a URL")
	errHeadersTooLarge = fmt.Errorf("the headers of the path would have more than %d bytes", maxResponse)
	errValueTooLong    = fmt.Errorf("the value is longer than %d bytes", maxValue)
)

// ParseHeaders parses a file _headers. A header that occurs twice below a path has both values.
func ParseHeaders(data []byte) (rules []Headers, warnings []Warning) {
	inRule := false
	warnings = parseLines(data, func(line string) error {
		if strings.HasPrefix(line, "/") {
			pattern, err := parsePattern(line)
			if err == nil && len(rules) == maxRules {
				err = fmt.Errorf("only the first %d rules are used", maxRules)
			}
			inRule = err == nil
			if inRule {
				rules = append(rules, Headers{Path: pattern})
			}
			return err
		}
		f, err := parseField(line)
		switch {
		case err != nil:
			return err
		case !inRule:
			return errNoPath
		}
		return rules[len(rules)-1].add(f)
	})
	rules = slices.DeleteFunc(rules, func(h Headers) bool { return len(h.Fields) == 0 })
	return rules, warnings
}

func parseField(line string) (f Field, err error) {
	name, text, ok := strings.Cut(line, ":")
	name = strings.TrimSpace(name)
	f = Field{Name: textproto.CanonicalMIMEHeaderKey(name), Value: strings.TrimSpace(text)}
	lower := strings.ToLower(line)
	switch {
	case strings.HasPrefix(lower, "https://") || strings.HasPrefix(lower, "http://"):
		return f, errURLPath
	case !ok || !fieldName.MatchString(name) || len(name) > maxName || f.Value == "":
		return f, errHeaderForm
	case !allowedNames.MatchString(f.Name) || reservedNames.MatchString(f.Name):
		return f, fmt.Errorf("the header %s cannot be set", f.Name)
	case strings.ContainsFunc(f.Value, func(r rune) bool { return r < ' ' || r > '~' }):
		return f, errValue
	case len(f.Value) > maxValue:
		return f, errValueTooLong
	}
	return f, nil
}

// add adds a header to a rule.
func (h *Headers) add(f Field) error {
	fields := slices.Clone(h.Fields)
	i := slices.IndexFunc(fields, func(other Field) bool { return other.Name == f.Name })
	if i < 0 {
		fields = append(fields, f)
	} else {
		fields[i].Value += ", " + f.Value
	}
	switch {
	case len(fields) > maxFields:
		return errTooManyHeaders
	case i >= 0 && len(fields[i].Value) > maxValue:
		return errValueTooLong
	case sizeOf(fields) > maxResponse:
		return errHeadersTooLarge
	}
	h.Fields = fields
	return nil
}

func sizeOf(fields []Field) (size int) {
	for _, f := range fields {
		size += f.size()
	}
	return size
}

// HeadersOf returns the headers that the rules add to the response to a request for a path, which is not escaped. A
// later rule replaces headers of an earlier rule. size is the number of bytes of another large header of the response,
// and counts towards the limit of 8 KiB. If a header would exceed the limit, it is left out, and fits is false.
func HeadersOf(rules []Headers, path string, size int) (fields []Field, fits bool) {
	fits = true
	var indexes map[string]int // in fields, by name
	for _, rule := range rules {
		if !match(rule.Path, path, nil) {
			continue
		}
		if indexes == nil {
			indexes = map[string]int{}
		}
		for _, f := range rule.Fields {
			i, exists := indexes[f.Name]
			added := f.size()
			if exists {
				added -= fields[i].size()
			}
			switch {
			case size+added > maxResponse:
				fits = false
				continue
			case exists:
				fields[i] = f
			default:
				indexes[f.Name] = len(fields)
				fields = append(fields, f)
			}
			size += added
		}
	}
	return fields, fits
}
