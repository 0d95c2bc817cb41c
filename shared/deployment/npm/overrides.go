package npm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// override is a rule of the field overrides in package.json. The root has no name, and contains the rules that apply to
// the whole project. The rules below a package apply to its direct and indirect dependencies. A nearer rule wins over a
// more distant rule.
type override struct {
	parent   *override
	name     string
	versions string // the rule applies to a dependency whose range intersects them; "*" for all
	value    string // replaces the version of the dependency; "*" if it keeps its version
	children []*override
}

// maxOverrides is the maximum number of rules of a project.
const maxOverrides = 500

// overrideReader reads the field overrides.
type overrideReader struct {
	project *projectManifest // has the versions to which values such as "$react" refer
	rules   int              // number of rules that were read
}

// read adds rules to parent. If a rule is invalid, it returns a message for people.
func (r *overrideReader) read(parent *override, rules any) (problem string) {
	all, ok := rules.(map[string]any)
	switch {
	case !ok && parent.parent == nil:
		return "the rules of overrides are not an object"
	case !ok:
		return fmt.Sprintf("the rules of %.100q are not an object", parent.name)
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		r.rules++
		if r.rules > maxOverrides {
			return fmt.Sprintf("there are more than %d rules", maxOverrides)
		}
		text, isText := all[key].(string)
		o := &override{parent: parent, name: key, versions: "*"}
		if at := strings.LastIndexByte(o.name, '@'); at > 0 {
			o.name, o.versions = o.name[:at], cmp.Or(strings.TrimSpace(o.name[at+1:]), "*")
		}
		o.value = o.versions
		switch {
		case key == "." && isText:
			problem = r.setValue(parent, text)
		case !isName(o.name) || len(o.versions) > maxSpec:
			problem = fmt.Sprintf("%.100q does not name a package", key)
		case isText:
			parent.children = append(parent.children, o)
			problem = r.setValue(o, text)
		default:
			parent.children = append(parent.children, o)
			problem = r.read(o, all[key])
		}
		if problem != "" {
			return problem
		}
	}
	return ""
}

// setValue sets the value of a rule. If value refers to a package that is not a dependency, setValue returns a message.
func (r *overrideReader) setValue(o *override, value string) (problem string) {
	value = strings.TrimSpace(value)
	name, isReference := strings.CutPrefix(value, "$")
	if !isReference {
		o.value = cmp.Or(value, "*")
		return ""
	}
	for _, specs := range []map[string]string{
		r.project.DevDependencies, r.project.OptionalDependencies, r.project.Dependencies, r.project.PeerDependencies,
	} {
		if spec, ok := specs[name]; ok {
			o.value = strings.TrimSpace(spec)
			return ""
		}
	}
	return fmt.Sprintf("%.100q refers to a package that is not a dependency of the project", value)
}

// parseOverrides returns the rules of a project, or nil if it has none. problem is not empty if a rule is invalid.
func parseOverrides(m *projectManifest) (root *override, problem string) {
	if m.Overrides == nil {
		return nil, ""
	}
	root = new(override)
	r := &overrideReader{project: m}
	return root, r.read(root, m.Overrides)
}

// apply returns the dependencies of a package with the versions that the rules of o select.
func (o *override) apply(edges []edge) []edge {
	if o == nil {
		return edges
	}
	replaced := make([]edge, len(edges))
	for i, e := range edges {
		e.rules = o.rule(e)
		if e.rules.name == e.name && e.rules.value != "*" {
			e.spec = e.rules.value
		}
		replaced[i] = e
	}
	return replaced
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
