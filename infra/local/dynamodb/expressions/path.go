package expressions

import (
	"cmp"
	"maps"
	"slices"
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

// isWritable reports whether the item can have a value at the path: the map or list that contains it exists.
func (p Path) isWritable(item values.Item) bool {
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

// relate returns "" for paths that can be used together, or else how they exclude each other.
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

// Projection is a ProjectionExpression. It is immutable. A nil Projection selects everything.
type Projection struct {
	paths []Path
	root  selection
}

// ParseProjection parses and checks a projection. The error is a *[values.Error].
func ParseProjection(src string, scope *Scope) (*Projection, error) {
	projection := &Projection{}
	err := parse("ProjectionExpression", src, scope, nil, func(p *parser) {
		for more := true; more; more = p.skip(",") {
			p.path()
		}
		p.checkOverlaps(p.paths())
		projection.paths, projection.root = p.paths(), newSelection(p.paths())
	})
	return projection, err
}

// Paths returns the document paths of the projection, in the order of the expression.
func (p *Projection) Paths() []Path {
	if p == nil {
		return nil
	}
	return p.paths
}

// Apply returns the selected parts of an item. Selected elements of a list keep their order and close up. A map or list
// without selected parts is left out. The result for a nil item is nil.
func (p *Projection) Apply(item values.Item) values.Item {
	if p == nil || item == nil {
		return item
	}
	return p.root.items(item)
}

// Project returns the parts of an item at the paths, like [Projection.Apply]. The paths must not overlap.
func Project(item values.Item, paths []Path) values.Item { return newSelection(paths).items(item) }

// selection is a tree of path steps. A leaf selects the whole value.
type selection map[Step]selection

func newSelection(paths []Path) selection {
	root := make(selection, len(paths))
	for _, path := range paths {
		at := root
		for _, step := range path {
			if at[step] == nil {
				at[step] = selection{}
			}
			at = at[step]
		}
	}
	return root
}

func (s selection) items(item values.Item) values.Item {
	kept := make(values.Item, 0, min(len(s), len(item)))
	for _, a := range item {
		if part, ok := s[Step{Name: a.Name}]; ok {
			if a.Value, ok = part.value(a.Value); ok {
				kept = append(kept, a)
			}
		}
	}
	return kept
}

// value returns the selected part of v, or false if there is none.
func (s selection) value(v values.Value) (values.Value, bool) {
	switch {
	case len(s) == 0:
		return v, true
	case v.Kind == values.M:
		kept := s.items(v.M)
		return values.FromMap(kept), len(kept) > 0
	case v.Kind == values.L:
		var kept []values.Value
		for i, element := range v.L {
			if part, ok := s[Step{Index: i, IsIndex: true}]; ok {
				if element, ok = part.value(element); ok {
					kept = append(kept, element)
				}
			}
		}
		return values.FromList(kept), len(kept) > 0
	}
	return values.Value{}, false
}

// maxPlaceholderBytes is the maximum length of a placeholder with its # or :.
const maxPlaceholderBytes = 255

// The parameters with placeholders.
const (
	parameterNames  = "ExpressionAttributeNames"
	parameterValues = "ExpressionAttributeValues"
)

// Scope has the placeholders that a request's expressions can use. It remembers which placeholders and document paths
// were used. It is not safe for concurrent use.
type Scope struct {
	names  map[string]string
	values values.Item
	used   map[string]bool // the names and the values, which begin with different characters
	paths  []Path
}

// Paths returns all document paths in the expressions parsed so far.
func (s *Scope) Paths() []Path { return s.paths }

// NewScope checks the ExpressionAttributeNames and ExpressionAttributeValues of a request. A nil map or item means that
// the request has none. An empty one is an error. The error is a *[values.Error].
func NewScope(names map[string]string, values values.Item) (*Scope, error) {
	if names != nil && len(names) == 0 {
		return nil, errorf("%s must not be empty", parameterNames)
	}
	if values != nil && len(values) == 0 {
		return nil, errorf("%s must not be empty", parameterValues)
	}
	for key, name := range names {
		if !isPlaceholder(key, '#') {
			return nil, errorf("%s contains invalid key: Syntax error; key: %q", parameterNames, key)
		}
		if name == "" {
			return nil, errorf("%s contains invalid value: Empty attribute name for key %s", parameterNames, key)
		}
	}
	for _, v := range values {
		if !isPlaceholder(v.Name, ':') {
			return nil, errorf("%s contains invalid key: Syntax error; key: %q", parameterValues, v.Name)
		}
	}
	return &Scope{names: names, values: values, used: make(map[string]bool, len(names)+len(values))}, nil
}

func isPlaceholder(key string, sigil byte) bool {
	return 2 <= len(key) && len(key) <= maxPlaceholderBytes && key[0] == sigil && wordLength(key) == len(key)
}

// CheckUnused returns an error if there is a placeholder that no expression parsed so far uses. The error is a
// *[values.Error].
func (s *Scope) CheckUnused() error {
	if len(s.used) == len(s.names)+len(s.values) {
		return nil
	}
	parameter, unused := parameterNames, s.unused(slices.Sorted(maps.Keys(s.names)))
	if len(unused) == 0 {
		keys := make([]string, len(s.values))
		for i, v := range s.values {
			keys[i] = v.Name
		}
		parameter, unused = parameterValues, s.unused(keys)
	}
	return errorf("Value provided in %s unused in expressions: keys: {%s}", parameter, strings.Join(unused, ", "))
}

func (s *Scope) unused(keys []string) []string {
	return slices.DeleteFunc(keys, func(key string) bool { return s.used[key] })
}

func (s *Scope) name(placeholder string) (string, bool) {
	name, ok := s.names[placeholder]
	if ok {
		s.used[placeholder] = true
	}
	return name, ok
}

func (s *Scope) value(placeholder string) (values.Value, bool) {
	value, ok := s.values.Get(placeholder)
	if ok {
		s.used[placeholder] = true
	}
	return value, ok
}
