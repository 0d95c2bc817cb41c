package expr

import (
	"strconv"
	"strings"

	"devplatform/infra/local/dynamodb/attr"
)

// maxPathSteps is how deep a document path may go.
const maxPathSteps = 32

// Step is one step of a document path: an attribute or map key, or the index
// of a list element.
type Step struct {
	Name    string
	Index   int
	IsIndex bool
}

// Path is a document path, placeholders replaced; its first step is the name
// of an attribute of the item.
type Path []Step

// Root is the attribute of the item that the path starts at.
func (p Path) Root() string { return p[0].Name }

// IsNested says whether the path goes into a map or list.
func (p Path) IsNested() bool { return len(p) > 1 }

// String is AWS's way to write a path in error texts: [a, [1], b].
func (p Path) String() string {
	var text strings.Builder
	text.WriteByte('[')
	for i, step := range p {
		if i > 0 {
			text.WriteString(", ")
		}
		if step.IsIndex {
			text.WriteString("[" + strconv.Itoa(step.Index) + "]")
		} else {
			text.WriteString(step.Name)
		}
	}
	text.WriteByte(']')
	return text.String()
}

// Get returns the value at the path, false when there is none.
func (p Path) Get(item attr.Item) (attr.Value, bool) {
	value, ok := item[p[0].Name]
	for _, step := range p[1:] {
		if !ok {
			break
		}
		value, ok = step.of(value)
	}
	return value, ok
}

func (s Step) of(v attr.Value) (attr.Value, bool) {
	if !s.IsIndex {
		value, ok := v.M[s.Name]
		return value, ok
	}
	if s.Index >= len(v.L) {
		return attr.Value{}, false
	}
	return v.L[s.Index], true
}

func (p Path) equal(q Path) bool {
	if len(p) != len(q) {
		return false
	}
	for i := range p {
		if p[i] != q[i] {
			return false
		}
	}
	return true
}

// checkOverlaps refuses paths of which one is, or contains, another, and then
// paths that take one value for a map and for a list.
func checkOverlaps(kind string, paths []Path) error {
	conflict := ""
	for i, p := range paths {
		for _, q := range paths[:i] {
			switch relate(q, p) {
			case overlapping:
				return errorf(pathClash, kind, "overlap", q, p)
			case conflicting:
				if conflict == "" {
					conflict = errorf(pathClash, kind, "conflict", q, p).Message
				}
			}
		}
	}
	if conflict != "" {
		return &Error{Message: conflict}
	}
	return nil
}

const pathClash = "Invalid %s: Two document paths %s with each other; must remove or rewrite one of these paths; path one: %s, path two: %s"

type relation int

const (
	unrelated relation = iota
	overlapping
	conflicting
)

func relate(p, q Path) relation {
	for i := range min(len(p), len(q)) {
		switch {
		case p[i].IsIndex != q[i].IsIndex:
			return conflicting
		case p[i] != q[i]:
			return unrelated
		}
	}
	return overlapping
}
