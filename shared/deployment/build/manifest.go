package build

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"devplatform/shared/deployment/failure"
)

// manifest is the part of a package.json that resolution uses. Fields with unexpected types are ignored.
type manifest struct {
	dir                   string
	name                  string
	main, module, browser string
	// remapped is the field browser as an object. The value "" means that the module is empty.
	remapped         map[string]string
	exports, imports *value
	// patterns are those of the files with side effects, and sideEffects their expressions. pure reports whether the
	// field exists.
	patterns    []string
	sideEffects []*regexp.Regexp
	pure        bool
}

// value is a JSON value of exports and imports. The order of the keys matters.
type value struct {
	text   string // of a string
	isText bool
	list   []*value
	keys   []string
	fields map[string]*value
}

// The limits of a package.json. A package with more patterns than these is built as if all its files had side effects.
const (
	maxManifestBytes = 1 << 20
	maxPatterns      = 1000
	maxPatternBytes  = 256
	maxDepth         = 32
	maxText          = 1024 // bytes of a string of exports and imports
	maxValues        = 20_000
)

// errManifest returns the error for a package.json that exceeds a limit.
func errManifest(name, limit string) *failure.Error {
	return failf(failure.BuildFailed, "The file %s is too large: the limit is %s. Use another version of the package.",
		name, limit)
}

func parseManifest(dir string, data []byte) *manifest {
	m := &manifest{dir: dir}
	var raw map[string]json.RawMessage
	if json.Unmarshal(data, &raw) != nil {
		return m
	}
	for key, to := range map[string]*string{"name": &m.name, "main": &m.main, "module": &m.module, "browser": &m.browser} {
		_ = json.Unmarshal(raw[key], to)
	}
	m.exports, m.imports = parseValue(raw["exports"]), parseValue(raw["imports"])
	var remapped map[string]any
	if json.Unmarshal(raw["browser"], &remapped) == nil {
		m.remapped = map[string]string{}
		for from, to := range remapped {
			if text, ok := to.(string); ok || to == false {
				m.remapped[from] = text
			}
		}
	}
	var patterns []string
	switch text := string(bytes.TrimSpace(raw["sideEffects"])); {
	case text == "false":
		m.pure = true
	case strings.HasPrefix(text, "[") && json.Unmarshal(raw["sideEffects"], &patterns) == nil:
		tooLong := func(p string) bool { return len(p) > maxPatternBytes }
		if len(patterns) > maxPatterns || slices.ContainsFunc(patterns, tooLong) {
			return m
		}
		m.pure = true
		m.patterns = patterns
	}
	return m
}

// count returns the number of values of exports or imports.
func (v *value) count() int {
	if v == nil {
		return 0
	}
	n := 1 + len(v.keys)
	for _, item := range v.list {
		n += item.count()
	}
	for _, field := range v.fields {
		n += field.count()
	}
	return n
}

// parseValue returns nil if the value is missing, null, not valid, too deep, or has a string that is too long.
func parseValue(data []byte) *value {
	if len(data) == 0 {
		return nil
	}
	v, _ := readValue(json.NewDecoder(bytes.NewReader(data)), maxDepth)
	return v
}

func readValue(d *json.Decoder, depth int) (*value, bool) {
	t, err := d.Token()
	if err != nil || depth == 0 {
		return nil, false
	}
	switch t := t.(type) {
	case string:
		return &value{text: t, isText: true}, len(t) <= maxText
	case json.Delim:
		v := &value{fields: map[string]*value{}}
		for d.More() {
			if t == '{' {
				key, err := d.Token()
				if err != nil {
					return nil, false
				}
				v.keys = append(v.keys, key.(string)) // keys of objects are strings
			}
			child, ok := readValue(d, depth-1)
			if !ok {
				return nil, false
			}
			if t == '{' {
				v.fields[v.keys[len(v.keys)-1]] = child
			} else {
				v.list = append(v.list, child)
			}
		}
		_, err := d.Token()
		return v, err == nil
	}
	return nil, true // null, numbers and booleans
}

// globPattern returns the expression of a pattern of sideEffects. A pattern without a slash matches in every folder.
func globPattern(pattern string) *regexp.Regexp {
	pattern = strings.TrimPrefix(pattern, "./")
	if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	expression := regexp.QuoteMeta(strings.TrimPrefix(pattern, "/"))
	for _, r := range [][2]string{
		{`\*\*/`, "(.*/)?"}, {`\*\*`, ".*"}, {`\*`, "[^/]*"}, {`\?`, "[^/]"}, {`\{`, "("}, {`\}`, ")"}, {",", "|"},
	} {
		expression = strings.ReplaceAll(expression, r[0], strings.ReplaceAll(r[1], "*", "\x00"))
	}
	re, err := regexp.Compile("^" + strings.ReplaceAll(expression, "\x00", "*") + "$")
	if err != nil {
		return regexp.MustCompile("")
	}
	return re
}

// isPure reports whether a file can be left out if none of its exports are used.
func (m *manifest) isPure(file string) bool {
	if m == nil || !m.pure || path.Ext(file) == ".css" {
		return false
	}
	name := strings.TrimPrefix(strings.TrimPrefix(file, m.dir), "/")
	return !slices.ContainsFunc(m.sideEffects, func(re *regexp.Regexp) bool { return re.MatchString(name) })
}

// export returns the file that the package exports as a subpath, such as "." or "./client".
func (m *manifest) export(subpath string, conditions []string) (string, bool) {
	exports := m.exports
	if len(exports.keys) == 0 || !strings.HasPrefix(exports.keys[0], ".") {
		exports = &value{keys: []string{"."}, fields: map[string]*value{".": exports}}
	}
	target, ok := exports.lookUp(subpath, conditions)
	if !ok || !isInside(target) {
		return "", false
	}
	return path.Join(m.dir, target), true
}

// isInside reports whether a target is a file of the package: "./" and no parent folder, nor another package.
func isInside(target string) bool {
	if !strings.HasPrefix(target, "./") {
		return false
	}
	for _, segment := range strings.FieldsFunc(target[2:], func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == ".." || segment == "." || strings.EqualFold(segment, "node_modules") || strings.Contains(segment, "%") {
			return false
		}
	}
	return true
}

// lookUp returns the target of a key. Of several patterns that match, the one with the longest text before * wins.
func (v *value) lookUp(key string, conditions []string) (string, bool) {
	if target, ok := v.fields[key]; ok && !strings.Contains(key, "*") {
		return target.choose("", conditions)
	}
	best, match := "", ""
	for _, pattern := range v.keys {
		before, after, ok := strings.Cut(pattern, "*")
		if !ok && strings.HasSuffix(pattern, "/") {
			before, ok = pattern, true
		}
		if ok && len(key) > len(before) && strings.HasPrefix(key, before) && strings.HasSuffix(key[len(before):], after) {
			if bestBefore, _, _ := strings.Cut(best, "*"); best == "" || len(before) > len(bestBefore) {
				best, match = pattern, strings.TrimSuffix(key[len(before):], after)
			}
		}
	}
	if best == "" {
		return "", false
	}
	return v.fields[best].choose(match, conditions)
}

// choose returns the first target whose conditions hold.
func (v *value) choose(match string, conditions []string) (string, bool) {
	switch {
	case v == nil:
		return "", false
	case v.isText && strings.HasSuffix(v.text, "/"):
		return v.text + match, true
	case v.isText:
		return strings.ReplaceAll(v.text, "*", match), true
	}
	for _, item := range v.list {
		if target, ok := item.choose(match, conditions); ok {
			return target, true
		}
	}
	for _, condition := range v.keys {
		if condition == "default" || slices.Contains(conditions, condition) {
			if v.fields[condition] == nil {
				return "", false
			}
			if target, ok := v.fields[condition].choose(match, conditions); ok {
				return target, true
			}
		}
	}
	return "", false
}
