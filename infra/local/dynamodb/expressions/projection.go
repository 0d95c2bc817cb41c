package expressions

import "devplatform/infra/local/dynamodb/values"

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
