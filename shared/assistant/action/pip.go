package action

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// pip edits requirements.txt files. It changes only lines with a name and a range (PEP 508). For a line with a URL, a
// hash or options, the model must use edit_file.
type pip struct{}

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

func (pip) packages(texts []string) ([]dependency, error) {
	return readPackages(texts, readRequirement, func(name string) string { return pipKey(withoutExtras(name)) })
}

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

// pipKey returns the normalized name (PEP 503).
func pipKey(name string) string { return strings.ToLower(pipSeparators.ReplaceAllString(name, "-")) }

func withoutExtras(name string) string {
	name, _, _ = strings.Cut(name, "[")
	return name
}

func (pip) edit(content string, packages []dependency) (string, error) {
	lines := strings.SplitAfter(content, "\n")
	found, isContinued := requirementLines(lines)
	for _, d := range packages {
		name := withoutExtras(d.name)
		switch at := found[pipKey(name)]; {
		case len(at) > 1:
			duplicate := pipFirst.FindStringSubmatch(lines[at[1]])[1]
			return "", fmt.Errorf("it has %s in more than one line: use edit_file", duplicate)
		case len(at) == 1:
			line, ok := setRequirement(lines[at[0]], d)
			if !ok {
				return "", fmt.Errorf("its line for %s has a URL, a hash or options: use edit_file", name)
			}
			lines[at[0]] = line
		case isContinued:
			return "", errors.New("its last line ends with a backslash, but no line follows; repair it first, with edit_file")
		default:
			lines = appendLine(lines, d.name+d.version, content)
		}
	}
	return strings.Join(lines, ""), nil
}

// requirementLines returns the line numbers of each package by its key, and whether the last line ends with a
// backslash, which joins it to the next line.
func requirementLines(lines []string) (found map[string][]int, isContinued bool) {
	found = map[string][]int{}
	for i, line := range lines {
		if i == len(lines)-1 && line == "" {
			break
		}
		line = strings.TrimRight(line, "\r\n")
		if name := pipFirst.FindStringSubmatch(line); name != nil && !isContinued {
			found[pipKey(name[1])] = append(found[pipKey(name[1])], i)
		}
		isContinued = strings.HasSuffix(line, `\`)
	}
	return found, isContinued
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

// appendLine appends a line with the line ending of the content.
func appendLine(lines []string, text, content string) []string {
	end := lineEnding(content)
	if end == "" {
		end = "\n"
	}
	if last := &lines[len(lines)-1]; *last != "" && !strings.HasSuffix(*last, "\n") {
		*last += end
	}
	return append(lines, text+end)
}
