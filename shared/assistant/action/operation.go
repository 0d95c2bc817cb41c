package action

import (
	"context"
	"maps"

	"devplatform/shared/project/file"
)

// normalize returns the changed paths in a form in which each path belongs to at most one operation. A file whose
// content did not change is renamed if storage has no file at its new path, and there is no file at its old path after
// the changes. Otherwise its content is written to the new path.
func (o *overlay) normalize(ctx context.Context) (map[string]state, error) {
	normalized := maps.Clone(o.changed)
	for _, p := range o.order {
		s := normalized[p]
		if !s.exists || s.origin == "" || s.origin == p || (!o.known[p].exists && !normalized[s.origin].exists) {
			continue
		}
		f, err := o.read(ctx, s.origin)
		if err != nil {
			return nil, err
		}
		if !f.isText {
			return nil, problemf("%s is a binary file, or larger than 1 MiB. One answer can't rename it to the path of another file, "+
				"and can't rename it and create a new file at its old path.", s.origin)
		}
		normalized[p] = state{exists: true, content: f.content}
	}
	return normalized, nil
}

// operationsOf returns the operations that change the stored files to the normalized states, in the order in which the
// paths were first changed.
func (o *overlay) operationsOf(normalized map[string]state) []file.BatchOperation {
	renamed := map[string]bool{} // by old path
	for p, s := range normalized {
		if s.exists && s.origin != "" && s.origin != p {
			renamed[s.origin] = true
		}
	}
	var operations []file.BatchOperation
	for _, p := range o.order {
		s, stored := normalized[p], o.known[p]
		op := file.BatchOperation{Path: p, ETag: &stored.ETag}
		switch {
		case s.exists && s.origin == p, !s.exists && !stored.exists, !s.exists && renamed[p]:
			continue
		case s.exists && s.origin != "":
			op = file.BatchOperation{Action: file.Rename, Path: s.origin, To: p, ETag: &o.known[s.origin].ETag}
		case s.exists && stored.exists:
			op.Action, op.Content = file.Update, &s.content
		case s.exists:
			op.Action, op.Content, op.ETag = file.Create, &s.content, nil
		default:
			op.Action = file.Delete
		}
		operations = append(operations, op)
	}
	return operations
}
