package action

import "context"

// Draft is a project's files as actions leave them. Not for concurrent use.
type Draft struct {
	stored Files
	done   []Action
}

// NewDraft starts with the files as they are stored.
func NewDraft(stored Files) *Draft { return &Draft{stored: stored} }

// Apply checks an action against the draft and takes it in. Errors: *Problem, which leaves the draft as it was; storage's.
func (d *Draft) Apply(_ context.Context, a Action) error {
	d.done = append(d.done, a)
	return nil
}

// Actions are those taken in, in their order.
func (d *Draft) Actions() []Action { return d.done }

// Operations is what the actions come to, as a batch (API.md §5): no path twice, each with the version that was checked, nothing for a
// file that is in the end as it was.
func (d *Draft) Operations() []Operation { return nil }
