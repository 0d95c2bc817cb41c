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

// npm edits package.json files. Like npm itself, it keeps the order of the members. Unlike npm, it also keeps all white
// space.
type npm struct{}

var (
	// npmName matches the names that npm accepts for new packages, and also names with capital letters, which some
	// older packages have.
	npmName = regexp.MustCompile(`^(@[A-Za-z0-9~-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*$`)
	// npmRange matches versions, ranges, tags, and the URLs and paths that may replace them.
	npmRange = regexp.MustCompile(`^[A-Za-z0-9.*^~<>=|:/#@+_-]+( [A-Za-z0-9.*^~<>=|:/#@+_-]+)*$`)
)

// npmSections are the objects of a package.json that list dependencies. A package stays in the first section that has
// it. New packages are added to the first section.
var npmSections = []string{"dependencies", "devDependencies", "optionalDependencies", "peerDependencies"}

const (
	maxNpmName    = 214
	byteOrderMark = "\uFEFF"
)

func (npm) packages(texts []string) ([]dependency, error) {
	return readPackages(texts, readNpmPackage, func(name string) string { return name })
}

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

func (npm) edit(content string, packages []dependency) (string, error) {
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
	added, err := setRanges(root, packages)
	if err != nil {
		return "", err
	}
	addPackages(root, added)
	if text = file.String(); hasMark {
		text = byteOrderMark + text
	}
	return text, nil
}

// setRanges sets the ranges of the packages that the file has, and returns the others.
func setRanges(root *hujson.Object, packages []dependency) (added []dependency, err error) {
	type entry struct {
		section string
		value   *hujson.Value
	}
	entries := map[string]entry{}
	for _, section := range slices.Backward(npmSections) { // the first section that has a package wins
		value := member(root, section)
		if value == nil {
			continue
		}
		object, ok := value.Value.(*hujson.Object)
		if !ok {
			return nil, errors.New("its " + section + " is not an object")
		}
		for i, name := range names(object) {
			entries[name] = entry{section, &object.Members[i].Value}
		}
	}
	for _, d := range packages {
		e, exists := entries[d.name]
		switch {
		case !exists:
			added = append(added, d)
		case d.version == "":
		case e.value.Value.Kind() != '"':
			return nil, errors.New("its " + e.section + " has a value that is not a string for " + d.name)
		default:
			e.value.Value = hujson.String(d.version)
		}
	}
	return added, nil
}

// addPackages adds new packages to the first section. If the names in it are sorted, they stay sorted.
func addPackages(root *hujson.Object, packages []dependency) {
	if len(packages) == 0 {
		return
	}
	sample := firstMember(root)
	section := member(root, npmSections[0])
	if section == nil {
		at := len(root.Members)
		if dev := slices.Index(names(root), "devDependencies"); dev >= 0 {
			at = dev
		}
		insert(root, at, sample, npmSections[0], &hujson.Object{})
		section = member(root, npmSections[0])
	}
	object, _ := section.Value.(*hujson.Object) // setRanges has checked that it is an object
	if len(object.Members) == 0 {
		object.AfterExtra = sample.Name.BeforeExtra
		sample.Name.BeforeExtra = doubleIndentation(sample.Name.BeforeExtra)
	}
	existing := names(object)
	isSorted := slices.IsSorted(existing)
	for _, d := range packages {
		at := len(existing)
		if isSorted {
			at, _ = slices.BinarySearch(existing, d.name)
		}
		existing = slices.Insert(existing, at, d.name)
		insert(object, at, sample, d.name, hujson.String(cmp.Or(d.version, "latest")))
	}
}

// insert inserts a member at an index. The new member copies the white space of the member that was at this index, or
// of the last member if it is appended. In an empty object, it copies the white space of sample.
func insert(object *hujson.Object, at int, sample hujson.ObjectMember, name string, value hujson.ValueTrimmed) {
	if n := len(object.Members); n > 0 {
		sample = object.Members[min(at, n-1)]
	}
	object.Members = slices.Insert(object.Members, at, hujson.ObjectMember{
		Name: hujson.Value{
			BeforeExtra: sample.Name.BeforeExtra, Value: hujson.String(name), AfterExtra: sample.Name.AfterExtra,
		},
		Value: hujson.Value{BeforeExtra: sample.Value.BeforeExtra, Value: value},
	})
}

// firstMember returns the first member of the root. New members copy its white space. In an empty root, members are
// indented by two spaces.
func firstMember(root *hujson.Object) hujson.ObjectMember {
	if len(root.Members) > 0 {
		return root.Members[0]
	}
	root.AfterExtra = hujson.Extra("\n")
	return hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra("\n  ")},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" ")},
	}
}

// doubleIndentation doubles the indentation after the line break. White space without a line break is not changed.
func doubleIndentation(space hujson.Extra) hujson.Extra {
	lineBreak := strings.LastIndexByte(string(space), '\n')
	if lineBreak < 0 {
		return space
	}
	return append(slices.Clip(space), space[lineBreak+1:]...)
}

// member returns the value of a member, or nil.
func member(object *hujson.Object, name string) *hujson.Value {
	if i := slices.Index(names(object), name); i >= 0 {
		return &object.Members[i].Value
	}
	return nil
}

// names returns the names of the members in their order.
func names(object *hujson.Object) []string {
	all := make([]string, len(object.Members))
	for i, m := range object.Members {
		if literal, ok := m.Name.Value.(hujson.Literal); ok {
			all[i] = literal.String()
		}
	}
	return all
}
