package expressions

import (
	"slices"

	"devplatform/infra/local/dynamodb/values"
)

// Projection is a ProjectionExpression. It is immutable.
type Projection struct {
	paths []Path
	root  *selection
}

// ParseProjection parses and checks a projection. The error is a *[values.Error].
func ParseProjection(src string, scope *Scope) (*Projection, error) {
	p, err := newParser("ProjectionExpression", src, scope, nil)
	if err != nil {
		return nil, err
	}
	for more := true; more; more = p.skip(",") {
		if _, err := p.path(); err != nil {
			return nil, err
		}
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	return &Projection{paths: p.paths, root: newSelection(p.paths)}, checkOverlaps(p.kind, p.paths)
}

// Paths returns the document paths of the projection, in the order of the expression.
func (p *Projection) Paths() []Path { return p.paths }

// Apply returns the selected parts of an item. Selected elements of a list keep their order and close up. A map or list
// without selected parts is left out.
func (p *Projection) Apply(item values.Item) values.Item { return p.root.items(item) }

// Project returns the parts of an item at the paths, like [Projection.Apply]. The paths must not overlap.
func Project(item values.Item, paths []Path) values.Item { return newSelection(paths).items(item) }

// selection is a tree of path steps. A leaf selects the whole value.
type selection struct {
	names    map[string]*selection
	elements map[int]*selection
	indexes  []int // of elements, ascending
}

func newSelection(paths []Path) *selection {
	root := &selection{names: make(map[string]*selection, len(paths))}
	for _, path := range paths {
		at := root
		for _, step := range path {
			at = at.child(step)
		}
	}
	return root
}

func (s *selection) child(step Step) *selection {
	if !step.IsIndex {
		if s.names == nil {
			s.names = map[string]*selection{}
		}
		if s.names[step.Name] == nil {
			s.names[step.Name] = &selection{}
		}
		return s.names[step.Name]
	}
	if s.elements == nil {
		s.elements = map[int]*selection{}
	}
	if s.elements[step.Index] == nil {
		s.elements[step.Index] = &selection{}
		at, _ := slices.BinarySearch(s.indexes, step.Index)
		s.indexes = slices.Insert(s.indexes, at, step.Index)
	}
	return s.elements[step.Index]
}

func (s *selection) items(item values.Item) values.Item {
	kept := make(values.Item, min(len(s.names), len(item)))
	for name, part := range s.names {
		if value, ok := item[name]; ok {
			if value, ok = part.value(value); ok {
				kept[name] = value
			}
		}
	}
	return kept
}

// value returns the selected part of v, or false if there is none.
func (s *selection) value(v values.Value) (values.Value, bool) {
	switch {
	case s.names == nil && s.elements == nil:
		return v, true
	case s.names != nil && v.Kind == values.M:
		kept := s.items(v.M)
		return values.FromMap(kept), len(kept) > 0
	case s.elements != nil && v.Kind == values.L:
		var kept []values.Value
		for _, i := range s.indexes {
			if i < len(v.L) {
				if element, ok := s.elements[i].value(v.L[i]); ok {
					kept = append(kept, element)
				}
			}
		}
		return values.FromList(kept), len(kept) > 0
	default:
		return values.Value{}, false
	}
}
