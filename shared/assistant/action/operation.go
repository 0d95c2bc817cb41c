package action

import (
	"context"
	"maps"

	"devplatform/shared/project/path"
)

// The bounds of a batch and of a file (API.md §5), which what the actions come to has to keep.
const (
	maxOperations   = 20
	maxBatchContent = 3 << 20
	maxContent      = 1 << 20
	maxFolders      = 500
)

// settle is what has become of the touched paths, told so that each is one operation's at most: a file that only changed its name is a
// rename's if its old path is left and its new one was free, and everywhere else it is written with its content.
func (o *overlay) settle(ctx context.Context) (map[string]state, error) {
	settled := maps.Clone(o.changed)
	for _, p := range o.order {
		s := settled[p]
		if !s.exists || s.origin == "" || s.origin == p || (!o.known[p].exists && !settled[s.origin].exists) {
			continue
		}
		f, err := o.read(ctx, s.origin)
		if err != nil {
			return nil, err
		}
		if !f.isText {
			return nil, problemf("%s is a binary file: in one answer it can't take the place of another file, nor can a new file take its place once it is renamed.", s.origin)
		}
		settled[p] = state{exists: true, content: f.content}
	}
	return settled, nil
}

// operationsOf are the operations that lead from what is stored to what is settled, in the order of the paths' first touch. A file that
// is written as it was is written all the same: the batch changes nothing for the same bytes, but says whether they still are the same.
func (o *overlay) operationsOf(settled map[string]state) []Operation {
	moved := map[string]bool{} // the old paths of renames
	for p, s := range settled {
		if s.exists && s.origin != "" && s.origin != p {
			moved[s.origin] = true
		}
	}
	var operations []Operation
	for _, p := range o.order {
		s, before := settled[p], o.known[p]
		switch {
		case s.exists && s.origin == p, !s.exists && !before.exists, !s.exists && moved[p]:
		case s.exists && s.origin != "":
			operations = append(operations, Operation{Op: "rename", Path: s.origin, To: p, ETag: o.known[s.origin].ETag})
		case s.exists && before.exists:
			operations = append(operations, Operation{Op: "update", Path: p, Content: s.content, ETag: before.ETag})
		case s.exists:
			operations = append(operations, Operation{Op: "create", Path: p, Content: s.content})
		default:
			operations = append(operations, Operation{Op: "delete", Path: p, ETag: before.ETag})
		}
	}
	return operations
}

// checkBatch refuses what is too much for a batch.
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
		return problemf("With this, the answer would change more than %d files, a rename counting as two.", maxOperations)
	case bytes > maxBatchContent:
		return problemf("With this, the answer would write more than 3 MiB.")
	case len(folders) > maxFolders:
		return problemf("With this, the answer would make files in more than %d folders.", maxFolders)
	}
	return nil
}
