package pattern

// Pattern is a parsed pattern. It may be used by several goroutines.
type Pattern struct{ root object }

// object is what a pattern says about a JSON object: all fields match, and one alternative of each "$or".
type object struct {
	fields       []field
	alternatives [][]object
}

// field is what a pattern says about one field: exactly one of nested and the rest is set.
type field struct {
	name   string
	nested *object
	tests  []test // one of them holds for one of the leaves
	absent bool   // or there is no leaf
}

// test is a condition on a leaf: a string, json.Number, bool or nil.
type test func(leaf any) bool

// Match tells whether an event matches. The event is JSON as encoding/json decodes it with UseNumber: map[string]any,
// []any, string, json.Number, bool and nil; numbers of other types match nothing.
func (p *Pattern) Match(event any) bool {
	here, _ := event.(map[string]any)
	return p.root.match(here, []map[string]any{here})
}

// match looks at one object of the event. everywhere holds all objects that stand at the same path, which differ from the
// one where a path leads through arrays: what must be absent must be so in each of them.
func (o *object) match(here map[string]any, everywhere []map[string]any) bool {
	for i := range o.fields {
		if !o.fields[i].match(here, everywhere) {
			return false
		}
	}
	for _, alternatives := range o.alternatives {
		if !anyMatches(alternatives, here, everywhere) {
			return false
		}
	}
	return true
}

func anyMatches(alternatives []object, here map[string]any, everywhere []map[string]any) bool {
	for i := range alternatives {
		if alternatives[i].match(here, everywhere) {
			return true
		}
	}
	return false
}

func (f *field) match(here map[string]any, everywhere []map[string]any) bool {
	objects, leaves := f.values(here)
	if f.nested == nil {
		return f.matchLeaf(leaves, everywhere)
	}
	var all []map[string]any
	for _, o := range everywhere {
		more, _ := f.values(o)
		all = append(all, more...)
	}
	if len(objects) == 0 { // there may be nothing but conditions on what is absent
		return f.nested.match(nil, all)
	}
	for _, o := range objects {
		if f.nested.match(o, all) {
			return true
		}
	}
	return false
}

func (f *field) matchLeaf(leaves []any, everywhere []map[string]any) bool {
	for _, leaf := range leaves {
		for _, holds := range f.tests {
			if holds(leaf) {
				return true
			}
		}
	}
	if !f.absent {
		return false
	}
	for _, o := range everywhere {
		if _, some := f.values(o); len(some) > 0 {
			return false
		}
	}
	return true
}

// values returns what an object holds under the field's name, arrays unfolded.
func (f *field) values(o map[string]any) (objects []map[string]any, leaves []any) {
	value, found := o[f.name]
	if !found {
		return nil, nil
	}
	unfold(value, &objects, &leaves)
	return objects, leaves
}

func unfold(value any, objects *[]map[string]any, leaves *[]any) {
	switch v := value.(type) {
	case map[string]any:
		*objects = append(*objects, v)
	case []any:
		for _, element := range v {
			unfold(element, objects, leaves)
		}
	default:
		*leaves = append(*leaves, v)
	}
}
