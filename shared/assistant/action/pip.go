package action

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// pip is a requirements.txt.
type pip struct{}

// The parts of a requirement (PEP 508), as far as requirements.txt files have them.
const (
	pipName    = `[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?`
	pipExtras  = `\[[A-Za-z0-9._, -]*\]`
	pipVersion = `(?:===|==|~=|!=|<=|>=|<|>)[ \t]*[A-Za-z0-9.*+!_-]+`
	pipRange   = pipVersion + `(?:[ \t]*,[ \t]*` + pipVersion + `)*`
)

var (
	pipPackage   = regexp.MustCompile(`^` + pipName + `(?:` + pipExtras + `)?$`)
	pipSpecifier = regexp.MustCompile(`^` + pipRange + `$`)
	pipNumber    = regexp.MustCompile(`^[0-9][A-Za-z0-9.*+!_-]*$`)
	// pipLine is a requirement that can be changed: its name, its extras, white space, its range, and what follows.
	pipLine = regexp.MustCompile(`^[ \t]*(` + pipName + `)([ \t]*` + pipExtras + `)?([ \t]*)(` + pipRange + `)?([ \t]*(?:;[^#\\]*)?(?:[ \t]#.*)?)$`)
	// pipStart is what any requirement begins with.
	pipStart = regexp.MustCompile(`^[ \t]*(` + pipName + `)(?:[^A-Za-z0-9._/:-]|$)`)
	pipRuns  = regexp.MustCompile(`[-_.]+`)
)

func (pip) packages(texts []string) ([]dependency, error) {
	return readPackages(texts, readRequirement, func(name string) string { return pipKey(nameOnly(name)) })
}

func readRequirement(text string) (d dependency, rule string) {
	d.name = text
	if at := strings.IndexAny(text, "@=<>!~"); at >= 0 { // models also write what stands in the file: name>=1.2
		d.name, d.version = strings.TrimSpace(text[:at]), strings.TrimSpace(strings.TrimPrefix(text[at:], "@"))
		if d.version == "" {
			return d, "has an @ but no range behind it"
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
		return d, "has no name that pip knows: write name@range, such as httpx@>=0.28"
	case d.version != "" && !pipSpecifier.MatchString(d.version):
		return d, "has a range that pip does not know: write name@>=1.2,<2 or name@==1.2.3"
	}
	return d, ""
}

// pipKey is a name as names are compared (PEP 503).
func pipKey(name string) string { return strings.ToLower(pipRuns.ReplaceAllString(name, "-")) }

// nameOnly is a name without extras.
func nameOnly(name string) string {
	name, _, _ = strings.Cut(name, "[")
	return name
}

func (pip) edit(content string, packages []dependency) (string, error) {
	for _, d := range packages {
		var err error
		if content, err = d.inRequirements(content); err != nil {
			return "", err
		}
	}
	return content, nil
}

// inRequirements is a requirements.txt with the dependency in it: changed in its line, or at the end.
func (d dependency) inRequirements(content string) (string, error) {
	lines, found := strings.SplitAfter(content, "\n"), -1
	continued := false
	for i, line := range lines {
		start := pipStart.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if start != nil && !continued && pipKey(start[1]) == pipKey(nameOnly(d.name)) {
			if found >= 0 {
				return "", fmt.Errorf("it has %s in more than one line: use edit_file", start[1])
			}
			found = i
		}
		continued = strings.HasSuffix(strings.TrimRight(line, "\r\n"), `\`)
	}
	if found < 0 && strings.HasSuffix(strings.TrimRight(content, "\r\n"), `\`) {
		return "", errors.New("its last line goes on without a next one; repair it first, with edit_file")
	}
	if found < 0 {
		return d.appendedTo(content), nil
	}
	text := strings.TrimRight(lines[found], "\r\n")
	parts := pipLine.FindStringSubmatchIndex(text)
	if parts == nil {
		return "", fmt.Errorf("it has %s with an address, a hash or options, not just a range: use edit_file", nameOnly(d.name))
	}
	if d.version == "" {
		return content, nil
	}
	lines[found] = text[:parts[3]] + d.extras(text, parts) + text[parts[6]:parts[7]] + d.version + text[parts[10]:] + lines[found][len(text):]
	return strings.Join(lines, ""), nil
}

// extras are those that are asked for, or else those that the line has.
func (d dependency) extras(text string, parts []int) string {
	if at := strings.IndexByte(d.name, '['); at >= 0 {
		return d.name[at:]
	}
	if parts[4] < 0 {
		return ""
	}
	return text[parts[4]:parts[5]]
}

func (d dependency) appendedTo(content string) string {
	end := lineEnding(content)
	if end == "" {
		end = "\n"
	}
	if content != "" && !strings.HasSuffix(content, "\n") {
		content += end
	}
	return content + d.name + d.version + end
}
