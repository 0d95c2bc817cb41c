package action

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"
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
	maxNpmName    = 214
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

// editPackageJSON is the edit of a package.json. Like npm itself, it keeps the order of the members. Unlike npm, it
// also keeps all white space.
func editPackageJSON(content string, packages []dependency) (string, error) {
	text, hasMark := strings.CutPrefix(content, byteOrderMark)
	invalid := errors.New("it is not valid JSON; repair it first, with edit_file")
	if !jsontext.Value(text).IsValid() { // hujson also accepts comments, duplicate names, and nesting without a limit
		return "", invalid
	}
	file, err := hujson.Parse([]byte(text))
	if err != nil {
		return "", invalid
	}
	root, ok := file.Value.(*hujson.Object)
	if !ok {
		return "", errors.New("it is not a JSON object")
	}
	missing, err := setRanges(&file, packages)
	if err != nil {
		return "", err
	}
	if len(missing) > 0 {
		appendPackages(&file, root, missing)
	}
	if text = file.String(); hasMark {
		text = byteOrderMark + text
	}
	return text, nil
}

// setRanges sets the ranges of the packages that the file has, and returns the missing packages.
func setRanges(file *hujson.Value, packages []dependency) (missing []dependency, err error) {
	ranges := map[string]*hujson.Value{}
	for _, section := range slices.Backward(npmSections) { // the first section that has a package wins
		value := file.Find("/" + section)
		if value == nil {
			continue
		}
		object, ok := value.Value.(*hujson.Object)
		if !ok {
			return nil, errors.New("its " + section + " is not an object")
		}
		for i := range object.Members {
			name, _ := object.Members[i].Name.Value.(hujson.Literal) // the names of JSON are strings
			ranges[name.String()] = &object.Members[i].Value
		}
	}
	for _, d := range packages {
		value, exists := ranges[d.name]
		switch {
		case !exists:
			missing = append(missing, d)
		case d.version == "":
		case value.Value.Kind() != '"':
			return nil, errors.New("it has a range that is not a string, for " + d.name)
		default:
			value.Value = hujson.String(d.version)
		}
	}
	return missing, nil
}

// appendPackages appends packages to the first section. setRanges has checked that the section is an object, if it
// exists. A new section, and packages in an empty section, copy the white space of the root's first member.
func appendPackages(file *hujson.Value, root *hujson.Object, packages []dependency) {
	if len(root.Members) == 0 {
		root.AfterExtra = hujson.Extra("\n")
	}
	sample := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra("\n  ")},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" ")},
	}
	if len(root.Members) > 0 {
		sample = root.Members[0]
	}
	if file.Find("/"+npmSections[0]) == nil {
		appendMember(root, sample, npmSections[0], &hujson.Object{})
	}
	section, _ := file.Find("/" + npmSections[0]).Value.(*hujson.Object)
	if len(section.Members) == 0 {
		section.AfterExtra = sample.Name.BeforeExtra
		sample.Name.BeforeExtra = doubleIndentation(sample.Name.BeforeExtra)
	}
	for _, d := range packages {
		appendMember(section, sample, d.name, hujson.String(cmp.Or(d.version, "latest")))
	}
}

// appendMember appends a member, which copies the white space of the last member, or of sample in an empty object.
func appendMember(object *hujson.Object, sample hujson.ObjectMember, name string, value hujson.ValueTrimmed) {
	if n := len(object.Members); n > 0 {
		sample = object.Members[n-1]
	}
	sample.Name.Value, sample.Value.Value = hujson.String(name), value
	sample.Value.AfterExtra = nil
	object.Members = append(object.Members, sample)
}

// doubleIndentation doubles the indentation after the line break. White space without a line break is not changed.
func doubleIndentation(space hujson.Extra) hujson.Extra {
	lineBreak := strings.LastIndexByte(string(space), '\n')
	if lineBreak < 0 {
		return space
	}
	return append(slices.Clip(space), space[lineBreak+1:]...)
}
