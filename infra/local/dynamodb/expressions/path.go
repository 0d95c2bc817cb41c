package expressions

import (
	"cmp"
	"strconv"
	"strings"

	"devplatform/infra/local/dynamodb/values"
)

// Step is one step of a document path: an attribute or map key, or the index of a list element.
type Step struct {
	Name    string
	Index   int
	IsIndex bool
}

func (s Step) compare(t Step) int {
	return cmp.Or(cmp.Compare(s.Index, t.Index), cmp.Compare(s.Name, t.Name))
}

// Path is a document path without placeholders. Its first step is the name of an attribute of the item.
type Path []Step

// Root returns the name of the path's first attribute.
func (p Path) Root() string { return p[0].Name }

// IsNested reports whether the path goes into a map or list.
func (p Path) IsNested() bool { return len(p) > 1 }

// String returns the path in the form of AWS's error messages, such as [a, [1], b].
func (p Path) String() string {
	steps := make([]string, len(p))
	for i, step := range p {
		steps[i] = step.Name
		if step.IsIndex {
			steps[i] = "[" + strconv.Itoa(step.Index) + "]"
		}
	}
	return "[" + strings.Join(steps, ", ") + "]"
}

// eval returns the value at the path, or errMissing.
func (p Path) eval(item values.Item) (values.Value, error) {
	value, ok := item.Get(p[0].Name)
	for _, step := range p[1:] {
		switch {
		case !step.IsIndex:
			value, ok = value.M.Get(step.Name)
		case value.Kind == values.L && step.Index < len(value.L): // sets have no indexes
			value = value.L[step.Index]
		default:
			ok = false
		}
		if !ok {
			break
		}
	}
	if !ok {
		return values.Value{}, errMissing
	}
	return value, nil
}

// writable reports whether the item can have a value at the path: the map or list that contains it exists.
func (p Path) writable(item values.Item) bool {
	if len(p) == 1 {
		return true
	}
	parent, err := p[:len(p)-1].eval(item)
	if p[len(p)-1].IsIndex {
		return err == nil && parent.Kind == values.L
	}
	return err == nil && parent.Kind == values.M
}

// checkOverlaps rejects two paths if they are equal, if one contains the other, or if they use the same value as a map
// and as a list.
func (p *parser) checkOverlaps(paths []Path) {
	for i, path := range paths {
		for _, other := range paths[:i] {
			if relation := relate(other, path); relation != "" {
				p.fail("Two document paths %s with each other; must remove or rewrite one of these paths; "+
					"path one: %s, path two: %s", relation, other, path)
			}
		}
	}
}

// relate returns "" for paths that can be used together.
func relate(p, q Path) string {
	for i := range min(len(p), len(q)) {
		switch {
		case p[i].IsIndex != q[i].IsIndex:
			return "conflict"
		case p[i] != q[i]:
			return ""
		}
	}
	return "overlap"
}
