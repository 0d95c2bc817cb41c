package expr

import (
	"slices"

	"devplatform/infra/local/dynamodb/attr"
)

// Projection is a ProjectionExpression. It is immutable.
type Projection struct {
	paths []Path
	root  *selection
}

// ParseProjection parses and checks a projection. The error is an *Error.
func ParseProjection(src string, scope *Scope) (*Projection, error) {
	const kind = "ProjectionExpression"
	p, err := newParser(kind, src, nil)
	if err != nil {
		return nil, err
	}
	written, err := p.projection()
	if err != nil {
		return nil, err
	}
	check := checker{kind, scope}
	paths := make([]Path, len(written))
	for _, path := range written {
		if err := check.pathWords(path); err != nil {
			return nil, err
		}
	}
	for i, path := range written {
		if err := check.names(path); err != nil {
			return nil, err
		}
		paths[i] = path.path
	}
	if err := checkOverlaps(kind, paths); err != nil {
		return nil, err
	}
	return &Projection{paths: paths, root: newSelection(paths)}, nil
}

// Paths are the document paths to keep, in the order written.
func (p *Projection) Paths() []Path { return p.paths }

// Apply returns what the projection keeps of an item: elements of a list close
// up and keep their order; a map or list of which nothing is kept is left out.
func (p *Projection) Apply(item attr.Item) attr.Item { return p.root.items(item) }

// Project returns the parts of an item at the paths, which do not overlap, by
// the rules of [Projection.Apply].
func Project(item attr.Item, paths []Path) attr.Item { return newSelection(paths).items(item) }

// selection is a tree of steps; one without steps selects all.
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

func (s *selection) items(item attr.Item) attr.Item {
	kept := make(attr.Item, min(len(s.names), len(item)))
	for name, part := range s.names {
		if value, ok := item[name]; ok {
			if value, ok = part.value(value); ok {
				kept[name] = value
			}
		}
	}
	return kept
}

// value is the selected part of v, false if there is none.
func (s *selection) value(v attr.Value) (attr.Value, bool) {
	switch {
	case s.names == nil && s.elements == nil:
		return v, true
	case s.names != nil && v.Kind == attr.M:
		kept := s.items(v.M)
		return attr.FromMap(kept), len(kept) > 0
	case s.elements != nil && v.Kind == attr.L:
		var kept []attr.Value
		for _, i := range s.indexes {
			if i < len(v.L) {
				if element, ok := s.elements[i].value(v.L[i]); ok {
					kept = append(kept, element)
				}
			}
		}
		return attr.FromList(kept), len(kept) > 0
	default:
		return attr.Value{}, false
	}
}
