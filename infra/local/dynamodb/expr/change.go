package expr

import (
	"cmp"
	"maps"
	"slices"

	"devplatform/infra/local/dynamodb/attr"
)

// inOrder sorts changes so that all indexes mean positions in the old item:
// first values are replaced, then elements appended by ascending index, then
// the rest removed from the back.
func inOrder(changes []change) {
	slices.SortStableFunc(changes, func(a, b change) int {
		phase := a.phase()
		switch order := cmp.Compare(phase, b.phase()); {
		case order != 0 || phase == replacing:
			return order
		case phase == removing:
			return comparePaths(b.path, a.path)
		default:
			return comparePaths(a.path, b.path)
		}
	})
}

const (
	replacing = iota
	appending
	removing
)

func (c change) phase() int {
	switch {
	case c.remove:
		return removing
	case c.append:
		return appending
	default:
		return replacing
	}
}

func comparePaths(p, q Path) int {
	return slices.CompareFunc(p, q, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name))
	})
}

// setAt makes a change in an item that is the caller's own; the maps and lists
// on the way are shared with the old item, and copied.
func setAt(item attr.Item, c change) {
	name := c.path.Root()
	switch {
	case c.path.IsNested():
		item[name] = changed(item[name], c.path[1:], c)
	case c.remove:
		delete(item, name)
	default:
		item[name] = c.value
	}
}

// changed returns a copy of a map or list with the change at a path inside.
func changed(v attr.Value, path Path, c change) attr.Value {
	if !path[0].IsIndex {
		v.M = maps.Clone(v.M)
		if v.M == nil {
			v.M = attr.Item{}
		}
		c.path = path
		setAt(v.M, c)
		return v
	}
	i := path[0].Index
	switch {
	case len(path) > 1:
		v.L = slices.Clone(v.L)
		v.L[i] = changed(v.L[i], path[1:], c)
	case c.remove:
		v.L = slices.Delete(slices.Clone(v.L), i, i+1)
	case c.append:
		v.L = append(slices.Clip(v.L), c.value)
	default:
		v.L = slices.Clone(v.L)
		v.L[i] = c.value
	}
	return v
}
