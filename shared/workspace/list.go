package workspace

import (
	"cmp"
	"slices"
)

// rank is a membership's place in its person's list: their own personal workspace, then by the ids of the workspaces, which is the
// order in which they were made.
func (m Membership) rank() string {
	if m.Personal {
		return "0" + m.WorkspaceID
	}
	return "1" + m.WorkspaceID
}

func inOrder(list []Membership) []Membership {
	slices.SortFunc(list, func(a, b Membership) int { return cmp.Compare(a.rank(), b.rank()) })
	return list
}
