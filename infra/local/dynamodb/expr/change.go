package expr

import (
	"cmp"
	"maps"
	"slices"

	"devplatform/infra/local/dynamodb/attr"
)

// inOrder sorts changes so that all indexes mean positions in the old item:
// first values are replaced, then elements appended by ascending index, then
// the rest removed from the back. Appended elements get their final index.
func inOrder(changes []change, old attr.Item) []change {
	phase := func(c change) int {
		switch {
		case c.remove:
			return 2
		case c.append:
			return 1
		default:
			return 0
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int {
		if order := cmp.Compare(phase(a), phase(b)); order != 0 || phase(a) == 0 {
			return order
		}
		if a.remove {
			return comparePaths(b.path, a.path)
		}
		return comparePaths(a.path, b.path)
	})
	var list Path // the list appended to last
	length := 0
	for i, c := range changes {
		if !c.append {
			continue
		}
		if parent := c.path[:len(c.path)-1]; !parent.equal(list) {
			value, _ := parent.Get(old)
			list, length = parent, len(value.L)
		}
		changes[i].path = append(slices.Clone(list), Step{Index: length, IsIndex: true})
		length++
	}
	return changes
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
