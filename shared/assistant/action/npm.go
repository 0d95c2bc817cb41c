package action

import (
	"errors"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// npm is a package.json.
type npm struct{}

// npmName is what npm lets be published today, and the capitals of older packages; npmRange is versions, ranges, tags, and the
// addresses that may stand for them.
var (
	npmName  = regexp.MustCompile(`^(@[A-Za-z0-9~-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*$`)
	npmRange = regexp.MustCompile(`^[A-Za-z0-9.*^~<>=|:/#@+_-]+( [A-Za-z0-9.*^~<>=|:/#@+_-]+)*$`)
)

// anyNpm is the range of a new package that is asked for without one: what npm's registry calls the latest.
const anyNpm = "latest"

const maxNpmName = 214

func (npm) packages(texts []string) ([]dependency, error) {
	return readPackages(texts, readNpm, func(name string) string { return name })
}

func readNpm(text string) (d dependency, rule string) {
	d.name = text
	if at := strings.LastIndex(text, "@"); at > 0 { // an @ in front is a scope's
		at = strings.Index(text[1:], "@") + 1 // the range may have more of them: name@npm:other@^1
		if d.name, d.version = text[:at], text[at+1:]; d.version == "" {
			return d, "has an @ but no range behind it"
		}
	}
	switch {
	case len(d.name) > maxNpmName || !npmName.MatchString(d.name):
		return d, "has no name that npm knows: write name@range, such as zod@^4.0.0 or @types/node@^24.0.0"
	case d.version != "" && !npmRange.MatchString(d.version):
		return d, "has a range that npm does not know"
	}
	return d, ""
}

// npmSections are where a package.json has dependencies. A package stays in the first of them that it is in; a new one goes into the
// first.
var npmSections = []string{"dependencies", "devDependencies", "optionalDependencies", "peerDependencies"}

func (npm) edit(content string, packages []dependency) (string, error) {
	const mark = "\uFEFF"
	text, marked := strings.CutPrefix(content, mark)
	p, err := readPackageJSON(text, packages)
	if err != nil {
		return "", err
	}
	for _, d := range packages {
		if err := p.put(d); err != nil {
			return "", err
		}
	}
	if text = p.written(); marked {
		text = mark + text
	}
	return text, nil
}

// deeper is the white space before the members of an object that itself is at this white space.
func deeper(space string) string {
	at := strings.LastIndexByte(space, '\n')
	if at < 0 {
		return space
	}
	return space + space[at+1:]
}

// jsonObject is where an object and its members are in a text.
type jsonObject struct {
	start, end int // of { and behind }
	members    []jsonMember
}

// jsonMember is where a member is in a text.
type jsonMember struct {
	name                     string
	start, colon, value, end int // of the name, behind it, of the value, behind it
}

func readJSONObject(text string) (jsonObject, error) {
	if !jsontext.Value(text).IsValid() {
		return jsonObject{}, errors.New("it is not valid JSON; repair it first, with edit_file")
	}
	start := strings.IndexFunc(text, notSpace)
	if text[start] != '{' {
		return jsonObject{}, errors.New("it is not a JSON object")
	}
	return objectIn(text, start)
}

// object is a member's value.
func (m jsonMember) object(text string) (jsonObject, error) {
	if text[m.value] != '{' {
		return jsonObject{}, errors.New("not an object")
	}
	return objectIn(text, m.value)
}

// objectIn finds the members of the object that begins at start of a valid text.
func objectIn(text string, start int) (jsonObject, error) {
	o := jsonObject{start: start}
	d := jsontext.NewDecoder(strings.NewReader(text[start:]))
	if _, err := d.ReadToken(); err != nil {
		return o, err //nolint:wrapcheck // the text was found to be valid
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return o, err //nolint:wrapcheck // as above
		}
		m := jsonMember{name: name.String(), colon: start + int(d.InputOffset())}
		m.start = o.nextIn(text)
		if err := d.SkipValue(); err != nil {
			return o, err //nolint:wrapcheck // as above
		}
		m.end = start + int(d.InputOffset())
		m.value = m.colon + strings.IndexFunc(text[m.colon:], func(r rune) bool { return r != ':' && notSpace(r) })
		o.members = append(o.members, m)
	}
	if _, err := d.ReadToken(); err != nil {
		return o, err //nolint:wrapcheck // as above
	}
	o.end = start + int(d.InputOffset())
	return o, nil
}

// nextIn is where the name of the member after those that were found begins.
func (o jsonObject) nextIn(text string) int {
	from := o.start + 1
	if n := len(o.members); n > 0 {
		from = o.members[n-1].end
	}
	return from + strings.IndexByte(text[from:], '"')
}

func notSpace(r rune) bool { return !strings.ContainsRune(" \t\r\n", r) }

func (o jsonObject) member(name string) (jsonMember, bool) {
	if i := o.indexOf(name); i < len(o.members) {
		return o.members[i], true
	}
	return jsonMember{}, false
}

// indexOf is the place of a member, or behind the last one.
func (o jsonObject) indexOf(name string) int {
	for i, m := range o.members {
		if m.name == name {
			return i
		}
	}
	return len(o.members)
}

// layout is the white space in front of a member and what is between its name and its value, as the object's first member has them.
func (o jsonObject) layout(text string) (space, colon string) {
	if len(o.members) == 0 {
		return "\n  ", ": "
	}
	m := o.members[0]
	return text[o.start+1 : m.start], text[m.colon:m.value]
}

// insert puts a new member at a place, laid out as the one whose place it takes or follows.
func (o jsonObject) insert(text string, at int, name, value string) splice {
	n := len(o.members)
	if n == 0 {
		space, colon := o.layout(text)
		return splice{o.start + 1, o.end - 1, space + quoted(name) + colon + value + "\n"}
	}
	if at < n {
		next := o.members[at]
		space := text[o.gapBefore(text, at):next.start]
		return splice{next.start, next.start, quoted(name) + text[next.colon:next.value] + value + "," + space}
	}
	last := o.members[n-1]
	space := text[o.gapBefore(text, n-1):last.start]
	return splice{last.end, last.end, "," + space + quoted(name) + text[last.colon:last.value] + value}
}

// gapBefore is where the white space in front of a member begins: behind the comma, or the brace.
func (o jsonObject) gapBefore(text string, i int) int {
	if i == 0 {
		return o.start + 1
	}
	end := o.members[i-1].end
	return end + strings.IndexByte(text[end:], ',') + 1
}
