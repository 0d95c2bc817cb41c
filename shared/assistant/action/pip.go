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
	pipRuns = regexp.MustCompile(`[-_.]+`)
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
	r := readRequirements(content, packages)
	for _, d := range packages {
		if err := r.put(d); err != nil {
			return "", err
		}
	}
	return strings.Join(r.lines, ""), nil
}

// requirements is a requirements.txt that is being changed.
type requirements struct {
	lines []string // with their ends
	// at are the lines of the packages that are asked for, by their keys.
	at map[string][]int
	// end is how lines end, goesOn that the last one says it has a next.
	end    string
	goesOn bool
}

// readRequirements finds the lines of packages, in one pass however many there are.
func readRequirements(content string, packages []dependency) *requirements {
	r := &requirements{lines: strings.SplitAfter(content, "\n"), at: map[string][]int{}, end: lineEnding(content)}
	if r.end == "" {
		r.end = "\n"
	}
	for _, d := range packages {
		r.at[pipKey(nameOnly(d.name))] = nil
	}
	continued := false
	for i, line := range r.lines {
		text := strings.TrimRight(line, "\r\n")
		if name := nameIn(text); name != "" && !continued {
			key := pipKey(name)
			if lines, asked := r.at[key]; asked {
				r.at[key] = append(lines, i)
			}
		}
		continued = strings.HasSuffix(text, `\`)
	}
	r.goesOn = strings.HasSuffix(strings.TrimRight(content, "\r\n"), `\`)
	return r
}

// nameIn is the name that a line begins with if it is a requirement, else "".
func nameIn(line string) string {
	line = strings.TrimLeft(line, " \t")
	isName := func(c byte) bool { return isPipLetter(c) || c == '.' || c == '_' || c == '-' }
	n := 0
	for n < len(line) && isName(line[n]) {
		n++
	}
	if n == 0 || !isPipLetter(line[0]) || !isPipLetter(line[n-1]) || (n < len(line) && (line[n] == '/' || line[n] == ':')) {
		return ""
	}
	return line[:n]
}

func isPipLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// put puts a dependency into its line, or in a new one at the end.
func (r *requirements) put(d dependency) error {
	name := nameOnly(d.name)
	found := r.at[pipKey(name)]
	switch {
	case len(found) > 1:
		return fmt.Errorf("it has %s in more than one line: use edit_file", nameIn(r.lines[found[1]]))
	case len(found) == 0 && r.goesOn:
		return errors.New("its last line goes on without a next one; repair it first, with edit_file")
	case len(found) == 0:
		r.add(d)
		return nil
	}
	line := r.lines[found[0]]
	text := strings.TrimRight(line, "\r\n")
	parts := pipLine.FindStringSubmatchIndex(text)
	if parts == nil {
		return fmt.Errorf("it has %s with an address, a hash or options, not just a range: use edit_file", name)
	}
	if d.version != "" {
		r.lines[found[0]] = text[:parts[3]] + d.extras(text, parts) + text[parts[6]:parts[7]] + d.version + text[parts[10]:] + line[len(text):]
	}
	return nil
}

func (r *requirements) add(d dependency) {
	last := &r.lines[len(r.lines)-1]
	if *last != "" && !strings.HasSuffix(*last, "\n") {
		*last += r.end
	}
	r.lines = append(r.lines, d.name+d.version+r.end)
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
