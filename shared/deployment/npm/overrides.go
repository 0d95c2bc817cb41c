package npm

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// override is a rule of the field overrides in package.json. The root has no name, and contains the rules that apply to
// the whole project. The rules below a package apply to its dependencies and to theirs. A nearer rule wins over a more
// distant one.
type override struct {
	parent   *override
	name     string
	versions string // the rule applies to a dependency whose range intersects them; "*" for all
	value    string // replaces the version of the dependency; "*" if it keeps its version
	children []*override
}

// maxOverrides is the maximum number of rules of a project.
const maxOverrides = 500

// overrideParser reads the fields overrides (npm), resolutions (Yarn) and pnpm.overrides.
type overrideParser struct {
	project *projectManifest // whose versions a value such as "$react" refers to
	rules   int
	skipped []string // the keys of other tools that have no equivalent in npm
}

// parse adds the rules of a JSON object to parent. nested reports whether the field has npm's form. If a rule is
// invalid, parse returns a message for people.
func (p *overrideParser) parse(d *jsontext.Decoder, parent *override, nested bool) string {
	if kind := d.PeekKind(); kind != '{' {
		return fmt.Sprintf("the rules of %s are not an object", parent.describe())
	}
	_, _ = d.ReadToken()
	for d.PeekKind() == '"' {
		token, _ := d.ReadToken()
		if message := p.rule(d, parent, token.String(), nested); message != "" {
			return message
		}
	}
	_, _ = d.ReadToken()
	return ""
}

// rule adds the rule with a key, such as "a@^1".
func (p *overrideParser) rule(d *jsontext.Decoder, parent *override, key string, nested bool) string {
	if p.rules++; p.rules > maxOverrides {
		return fmt.Sprintf("there are more than %d rules", maxOverrides)
	}
	if key == "." && nested && d.PeekKind() == '"' {
		token, _ := d.ReadToken()
		return p.setValue(parent, token.String())
	}
	if !nested {
		key = strings.TrimPrefix(key, "**/")
	}
	o := &override{parent: parent, name: key, versions: "*"}
	if at := strings.LastIndexByte(key, '@'); at > 0 {
		o.name, o.versions = key[:at], strings.TrimSpace(key[at+1:])
	}
	if o.versions == "" {
		o.versions = "*"
	}
	o.value = o.versions
	switch isValid := isName(o.name) && len(o.versions) <= maxSpec && d.PeekKind() == '"'; {
	case !nested && !isValid:
		p.skipped = append(p.skipped, key)
		_ = d.SkipValue()
		return ""
	case !isName(o.name) || len(o.versions) > maxSpec:
		return fmt.Sprintf("%.100q does not name a package", key)
	}
	parent.children = append(parent.children, o)
	if d.PeekKind() != '"' {
		return p.parse(d, o, nested)
	}
	token, _ := d.ReadToken()
	return p.setValue(o, token.String())
}

func (p *overrideParser) setValue(o *override, value string) string {
	value = strings.TrimSpace(value)
	if name, ok := strings.CutPrefix(value, "$"); ok {
		for _, specs := range []map[string]string{
			p.project.DevDependencies, p.project.OptionalDependencies, p.project.Dependencies, p.project.PeerDependencies,
		} {
			if spec, ok := specs[name]; ok {
				o.value = strings.TrimSpace(spec)
				return ""
			}
		}
		return fmt.Sprintf("%.100q refers to a package that is not a dependency of the project", value)
	}
	if value == "" {
		value = "*"
	}
	o.value = value
	return ""
}

func (o *override) describe() string {
	if o.parent == nil {
		return "overrides"
	}
	return fmt.Sprintf("%.100q", o.name)
}

// parseOverrides returns the rules of a project, or nil if it has none. message is not empty if a rule is invalid.
func parseOverrides(m *projectManifest) (root *override, skipped []string, message string) {
	root = new(override)
	p := &overrideParser{project: m}
	for _, field := range []struct {
		value  jsontext.Value
		nested bool
	}{{m.Overrides, true}, {m.Resolutions, false}, {m.pnpmOverrides(), false}} {
		if k := field.value.Kind(); k == 0 || k == 'n' || k != '{' && !field.nested {
			continue // absent, null, or a field of another tool that npm ignores
		}
		d := jsontext.NewDecoder(bytes.NewReader(field.value), jsontext.AllowDuplicateNames(true),
			jsontext.AllowInvalidUTF8(true))
		if message := p.parse(d, root, field.nested); message != "" {
			return nil, nil, message
		}
	}
	if len(root.children) == 0 {
		return nil, p.skipped, ""
	}
	return root, p.skipped, ""
}

// apply returns the dependencies of a package to which the rules of o apply, with the versions that the rules select.
func (o *override) apply(edges []edge) []edge {
	if o == nil {
		return edges
	}
	changed := make([]edge, len(edges))
	for i, e := range edges {
		e.rules = o.rule(e)
		if e.rules.name == e.name && e.rules.value != "*" {
			e.spec = e.rules.value
		}
		changed[i] = e
	}
	return changed
}

// rule returns the rule for a dependency, or o if there is none: then the same rules apply to its dependencies.
func (o *override) rule(e edge) *override {
	for at := o; at != nil; at = at.parent {
		for _, child := range at.children {
			if child.appliesTo(e) {
				return child
			}
		}
	}
	return o
}

func (o *override) appliesTo(e edge) bool {
	if o.name != e.name {
		return false
	}
	if o.versions == "*" {
		return true
	}
	_, spec, err := target(edge{name: e.name, spec: e.raw})
	return err == nil && intersects(spec, o.versions)
}

// isBelow reports whether o is a rule below ancestor.
func (o *override) isBelow(ancestor *override) bool {
	for at := o; at != nil; at = at.parent {
		if at == ancestor {
			return at != o
		}
	}
	return false
}
