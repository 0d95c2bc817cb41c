package action

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

const (
	pipName    = `[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?`
	pipExtras  = `\[[A-Za-z0-9._, -]*\]`
	pipVersion = `(?:===|==|~=|!=|<=|>=|<|>)[ \t]*[A-Za-z0-9.*+!_-]+`
	pipRange   = pipVersion + `(?:[ \t]*,[ \t]*` + pipVersion + `)*`
)

var (
	pipPackage   = regexp.MustCompile(`^(` + pipName + `)(` + pipExtras + `)?$`)
	pipSpecifier = regexp.MustCompile(`^` + pipRange + `$`)
	pipNumber    = regexp.MustCompile(`^[0-9][A-Za-z0-9.*+!_-]*$`)
	// pipFirst matches the name at the beginning of a requirement. A path or a URL is not a requirement.
	pipFirst = regexp.MustCompile(`^[ \t]*(` + pipName + `)(?:[^A-Za-z0-9._/:-]|$)`)
	// pipLine matches a line that can be changed. Groups: name, extras, white space, range, marker and comment.
	pipLine = regexp.MustCompile(`^([ \t]*` + pipName + `)([ \t]*` + pipExtras + `)?([ \t]*)(` + pipRange + `)?` +
		`([ \t]*(?:;[^#\\]*)?(?:[ \t]#.*)?)$`)
	pipSeparators = regexp.MustCompile(`[-_.]+`)
)

// readRequirement parses name@range, and also the format of the file, which models may copy: name>=1.2.
func readRequirement(text string) (d dependency, rule string) {
	d.name = text
	if at := strings.IndexAny(text, "@=<>!~"); at >= 0 {
		d.name, d.version = strings.TrimSpace(text[:at]), strings.TrimSpace(strings.TrimPrefix(text[at:], "@"))
		if d.version == "" {
			return d, "has an @ but no range after it"
		}
	}
	switch {
	case d.version == "latest" || d.version == "*":
		d.version = ""
	case pipNumber.MatchString(d.version):
		d.version = "==" + d.version
	}
	switch {
	case !pipPackage.MatchString(d.name):
		return d, "does not have a valid pip name: write name@range, such as httpx@>=0.28"
	case d.version != "" && !pipSpecifier.MatchString(d.version):
		return d, "has a range that is not valid for pip: write name@>=1.2,<2 or name@==1.2.3"
	}
	return d, ""
}

// pipKey returns the normalized name (PEP 503), without extras.
func pipKey(name string) string {
	name, _, _ = strings.Cut(name, "[")
	return strings.ToLower(pipSeparators.ReplaceAllString(name, "-"))
}

// editRequirements is the edit of a requirements.txt. It changes only lines with a name and a range (PEP 508). For a
// line with a URL, a hash or options, the model must use edit_file.
func editRequirements(content string, packages []dependency) (string, error) {
	end := "\n"
	if lineEnding(content) == crlf {
		end = crlf
	}
	if strings.HasSuffix(strings.TrimRight(content, "\r\n"), `\`) {
		return "", errors.New("its last line ends with a backslash, but no line follows; repair it first, with edit_file")
	}
	lines := strings.SplitAfter(content, "\n")
	found := map[string][]int{}
	for i, line := range lines {
		isContinuation := i > 0 && strings.HasSuffix(strings.TrimRight(lines[i-1], "\r\n"), `\`)
		if name := pipFirst.FindStringSubmatch(line); name != nil && !isContinuation {
			found[pipKey(name[1])] = append(found[pipKey(name[1])], i)
		}
	}
	for _, d := range packages {
		at := found[pipKey(d.name)]
		if len(at) > 1 {
			return "", fmt.Errorf("it has %s in more than one line: use edit_file", d.name)
		}
		if len(at) == 1 {
			line, ok := setRequirement(lines[at[0]], d)
			if !ok {
				return "", fmt.Errorf("its line for %s has a URL, a hash or options: use edit_file", d.name)
			}
			lines[at[0]] = line
			continue
		}
		if last := &lines[len(lines)-1]; *last != "" && !strings.HasSuffix(*last, "\n") {
			*last += end
		}
		lines = append(lines, d.name+d.version+end)
	}
	return strings.Join(lines, ""), nil
}

// setRequirement sets the range of a line, and its extras if the dependency has any. ok is false if the line can't be
// changed.
func setRequirement(line string, d dependency) (changed string, ok bool) {
	text := strings.TrimRight(line, "\r\n")
	parts := pipLine.FindStringSubmatch(text)
	if parts == nil || d.version == "" {
		return line, parts != nil
	}
	name, extras, space, rest := parts[1], parts[2], parts[3], parts[5]
	if requested := pipPackage.FindStringSubmatch(d.name)[2]; requested != "" {
		extras = requested
	}
	return name + extras + space + d.version + rest + line[len(text):], true
}
