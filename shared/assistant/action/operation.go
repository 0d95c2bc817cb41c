package action

import (
	"context"
	"maps"

	"devplatform/shared/project/path"
)

// Limits of a batch and of a file.
const (
	maxOperations   = 20
	maxBatchContent = 3 << 20
	maxContent      = 1 << 20
	maxFolders      = 500
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
func (o *overlay) operationsOf(normalized map[string]state) []Operation {
	renamed := map[string]bool{} // by old path
	for p, s := range normalized {
		if s.exists && s.origin != "" && s.origin != p {
			renamed[s.origin] = true
		}
	}
	var operations []Operation
	for _, p := range o.order {
		s, stored := normalized[p], o.known[p]
		switch {
		case s.exists && s.origin == p, !s.exists && !stored.exists, !s.exists && renamed[p]:
		case s.exists && s.origin != "":
			operations = append(operations, Operation{Op: "rename", Path: s.origin, To: p, ETag: o.known[s.origin].ETag})
		case s.exists && stored.exists:
			operations = append(operations, Operation{Op: "update", Path: p, Content: s.content, ETag: stored.ETag})
		case s.exists:
			operations = append(operations, Operation{Op: "create", Path: p, Content: s.content})
		default:
			operations = append(operations, Operation{Op: "delete", Path: p, ETag: stored.ETag})
		}
	}
	return operations
}

// checkBatch returns a problem if the operations exceed the limits of a batch.
func checkBatch(operations []Operation) error {
	count, bytes, folders := 0, 0, map[string]bool{}
	for _, op := range operations {
		count, bytes = count+1, bytes+len(op.Content)
		created := ""
		switch op.Op {
		case "create":
			created = op.Path
		case "rename":
			created, count = op.To, count+1
		}
		for _, folder := range path.Ancestors(created) {
			folders[folder] = true
		}
	}
	switch {
	case count > maxOperations:
		return problemf("With this action, the answer would change more than %d files. A rename counts as two.", maxOperations)
	case bytes > maxBatchContent:
		return problemf("With this action, the answer would write more than 3 MiB.")
	case len(folders) > maxFolders:
		return problemf("With this action, the answer would create files in more than %d folders.", maxFolders)
	}
	return nil
}
