package action

import (
	"bytes"
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	// npmName matches the names that npm accepts for new packages, and also names with capital letters, which some
	// older packages have.
	npmName = regexp.MustCompile(`^(@[A-Za-z0-9~-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*$`)
	// npmRange matches versions, ranges, tags, and the URLs and paths that may replace them.
	npmRange = regexp.MustCompile(`^[A-Za-z0-9.*^~<>=|:/#@+_-]+( [A-Za-z0-9.*^~<>=|:/#@+_-]+)*$`)
)

// npmSections are the objects of a package.json that list dependencies. A package stays in the first section that has
// it. New packages are appended to the first section.
var npmSections = []string{"dependencies", "devDependencies", "optionalDependencies", "peerDependencies"}

const (
	maxNpmName    = 214 // bytes, as in npm
	byteOrderMark = "\uFEFF"
)

// readNpmPackage parses name@range. The first character may be the @ of a scope, and the range may contain an @, as in
// name@npm:other@^1.
func readNpmPackage(text string) (d dependency, rule string) {
	d.name = text
	if at := strings.Index(text[min(1, len(text)):], "@") + 1; at > 0 {
		if d.name, d.version = text[:at], text[at+1:]; d.version == "" {
			return d, "has an @ but no range after it"
		}
	}
	switch {
	case len(d.name) > maxNpmName || !npmName.MatchString(d.name):
		return d, "does not have a valid npm name: write name@range, such as zod@^4.0.0 or @types/node@^24.0.0"
	case d.version != "" && !npmRange.MatchString(d.version):
		return d, "has a range that is not valid for npm"
	}
	return d, ""
}

// editPackageJSON is the field edit of the manifest package.json. Like npm itself, it keeps the order of the members,
// and writes the file and its sections with one member on each line.
func editPackageJSON(content string, packages []dependency) (string, error) {
	text := strings.TrimPrefix(content, byteOrderMark)
	if !jsontext.Value(text).IsValid() {
		return "", errors.New("it is not valid JSON; repair it first, with edit_file")
	}
	root, ok := readMembers(jsontext.Value(text))
	if !ok {
		return "", errors.New("it is not a JSON object")
	}
	sections, existing := map[string][]member{}, map[string]*member{}
	for _, name := range slices.Backward(npmSections) { // the first section that has a package wins
		at := slices.IndexFunc(root, func(m member) bool { return m.name == name })
		if at < 0 {
			continue
		}
		if sections[name], ok = readMembers(root[at].value); !ok {
			return "", errors.New("its " + name + " is not an object")
		}
		for i := range sections[name] {
			existing[sections[name][i].name] = &sections[name][i]
		}
	}
	var missing []member
	isChanged := false
	for i := range packages {
		d := &packages[i]
		found := existing[d.name]
		if found != nil && found.value.Kind() != '"' {
			return "", errors.New("it has a range that is not a string, for " + d.name)
		}
		if found != nil && d.version == "" {
			version, _ := jsontext.AppendUnquote(nil, found.value) // the content is valid JSON
			d.version = string(version)
			continue
		}
		d.version = cmp.Or(d.version, "latest")
		switch version := jsontext.Value(quote(d.version)); {
		case found == nil:
			missing = append(missing, member{d.name, jsontext.Value(quote(d.name)), version})
		case bytes.Equal(found.value, version):
			continue
		default:
			found.value = version
		}
		isChanged = true
	}
	if !isChanged {
		return content, nil
	}
	if first := npmSections[0]; len(missing) > 0 {
		if _, exists := sections[first]; !exists {
			root = append(root, member{name: first, quoted: jsontext.Value(quote(first))})
		}
		sections[first] = append(sections[first], missing...)
	}
	newline, indent := whiteSpaceOf(text)
	for i := range root {
		if section, isSection := sections[root[i].name]; isSection {
			root[i].value = writeMembers(section, newline+indent, indent)
		}
	}
	mark, end := content[:len(content)-len(text)], text[len(strings.TrimRight(text, " \t\r\n")):]
	return mark + string(writeMembers(root, newline, indent)) + end, nil
}

// member is a member of a JSON object. quoted and value are its name and its value as they are in the file.
type member struct {
	name          string
	quoted, value jsontext.Value
}

// readMembers returns the members of an object in order. ok is false if the value is not an object.
func readMembers(value jsontext.Value) (all []member, ok bool) {
	d := jsontext.NewDecoder(bytes.NewReader(value))
	if first, err := d.ReadToken(); err != nil || first.Kind() != '{' {
		return nil, false
	}
	for d.PeekKind() == '"' {
		quoted, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		m := member{quoted: quoted.Clone()}
		name, err := jsontext.AppendUnquote(nil, quoted)
		if err != nil {
			return nil, false
		}
		value, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		m.name, m.value = string(name), value.Clone()
		all = append(all, m)
	}
	return all, true
}

// writeMembers returns an object with one member on each line. newline also contains the indentation of the object.
func writeMembers(members []member, newline, indent string) jsontext.Value {
	if len(members) == 0 {
		return jsontext.Value("{}")
	}
	lines := make([]string, len(members))
	for i, m := range members {
		lines[i] = newline + indent + string(m.quoted) + ": " + string(m.value)
	}
	return jsontext.Value("{" + strings.Join(lines, ",") + newline + "}")
}

// whiteSpaceOf returns the line ending of a package.json and the indentation of its first member, or npm's defaults for
// them. It does not return an indentation of more than maxIndent characters, because every line would repeat it.
func whiteSpaceOf(text string) (newline, indent string) {
	const maxIndent = 10
	newline, indent = cmp.Or(lineEnding(text), "\n"), "  "
	_, members, _ := strings.Cut(text, "{")
	before := members[:len(members)-len(strings.TrimLeft(members, " \t\r\n"))]
	if n := len(before) - strings.LastIndexByte(before, '\n') - 1; n < len(before) && n > 0 && n <= maxIndent {
		indent = before[len(before)-n:]
	}
	return newline, indent
}
