package file

import (
	"fmt"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/fault"
	"devplatform/shared/project/content"
	"devplatform/shared/project/path"
)

// The functions of this file decide how operations change a project, from the records that were read. They read and
// write nothing themselves. Failure policy: the first operation that cannot be done fails all of them. Whether the
// records are still the same when the plan is written is checked by the transaction. If not, everything is read and
// decided again.

// before is the stored state on which the plan of operations is decided.
type before struct {
	tree Tree
	// files has the files that operations name, and those that exist where a creation needs a folder, by path.
	files map[string]File
	// inside has paths of files that are inside a path to be created, by that path. It has at most one more path than
	// the operations can remove.
	inside map[string][]string
}

// file returns the file at a path, nil if there is none.
func (b before) file(path string) *File {
	if f, ok := b.files[path]; ok {
		return &f
	}
	return nil
}

// author is the user who makes a change, and its time.
type author struct {
	userID string
	at     time.Time
	// newVersion returns the name of the version that follows another one, "" for none.
	newVersion func(previous string) string
}

// change is what happens to one path.
type change struct {
	path string
	// before and after are the file's records. They are nil if there is no file, and the same if nothing changes.
	before, after *File
	// content is the content to store under after's content ID. It is nil if it is stored already.
	content *packedContent
	// moved means that the content stays in use under another path.
	moved bool
}

func (c change) creates() bool { return c.before == nil && c.after != nil }
func (c change) deletes() bool { return c.before != nil && c.after == nil }
func (c change) isEmpty() bool { return c.before == c.after }

// plan is the effect of operations.
type plan struct {
	tree      Tree      // that the plan was decided on
	at        time.Time // of the change
	changes   []change  // of all operations, in their order
	operation []int     // the index of the operation of each change
	// files and bytes are the growth of the project.
	files, bytes int
	// creates means that the plan is valid only for the version of the tree that it was decided on.
	creates bool
}

// isEmpty reports whether there is nothing to write.
func (p plan) isEmpty() bool {
	for _, c := range p.changes {
		if !c.isEmpty() {
			return false
		}
	}
	return true
}

// results returns the files that exist after the operations, in operation order.
func (p plan) results() []File {
	var files []File
	for _, c := range p.changes {
		if c.after != nil {
			files = append(files, *c.after)
		}
	}
	return files
}

// Errors of operations, beside errNotFound and those of preconditions.
var (
	errFileExists = fault.New(fault.CodeConflict, "There is a file with this path already.")
	errIsFolder   = fault.New(fault.CodeConflict, "This path is a folder of other files.")
	errInsideFile = fault.New(fault.CodeConflict, "This path runs through another file as if it were a folder.")
)

// planFiles decides the effect of operations. Errors: *operationError; QUOTA_EXCEEDED.
func planFiles(ops []BatchOperation, b before, by author, quotas Quotas) (plan, error) {
	p := plan{tree: b.tree, at: by.at}
	for i, op := range ops {
		changes, err := op.plan(b, by)
		if err != nil {
			return p, &operationError{i, err}
		}
		for _, c := range changes {
			p.add(c, i)
		}
	}
	if err := p.checkFolders(b); err != nil {
		return p, err
	}
	return p, p.checkQuotas(quotas)
}

func (p *plan) add(c change, operation int) {
	p.changes, p.operation = append(p.changes, c), append(p.operation, operation)
	if c.before != nil {
		p.files, p.bytes = p.files-1, p.bytes-c.before.Size
	}
	if c.after != nil {
		p.files, p.bytes = p.files+1, p.bytes+c.after.Size
	}
	p.creates = p.creates || c.creates()
}

// plan decides the effect of one operation. It does not depend on the other ones: no two name the same path.
func (op BatchOperation) plan(b before, by author) ([]change, error) {
	old := b.file(op.Path)
	if err := op.checkOld(old); err != nil {
		return nil, err
	}
	switch {
	case op.Action == Delete:
		return []change{{path: op.Path, before: old}}, nil
	case op.Action == Rename:
		if b.file(op.To) != nil {
			return nil, errFileExists
		}
		moved := *old
		moved.Path, moved.Version = op.To, by.newVersion(old.Version)
		moved.UpdatedAt, moved.UpdatedBy = clock.Stamp(by.at), by.userID
		return []change{{path: op.Path, before: old, moved: true}, {path: op.To, after: &moved}}, nil
	case old != nil && op.packed.isContentOf(old):
		return []change{{path: op.Path, before: old, after: old}}, nil
	}
	return []change{{path: op.Path, before: old, after: op.file(old, by), content: op.packed}}, nil
}

// checkOld returns an error if the operation cannot be done to the file that exists, nil for none.
func (op BatchOperation) checkOld(old *File) error {
	switch {
	case op.Action == Create && old != nil:
		return errFileExists
	case op.Action != Create && op.Action != Save && old == nil:
		return errNotFound
	case old == nil:
		return op.condition.Check("")
	default:
		return op.condition.Check(old.ETag())
	}
}

// file returns the file after a save.
func (op BatchOperation) file(old *File, by author) *File {
	at := clock.Stamp(by.at)
	f := &File{
		Path: op.Path, Size: op.packed.size, SHA256: op.packed.sha256, Encoding: op.packed.encoding,
		Ref:       content.Ref{ContentID: op.packed.contentID, Chunks: len(op.packed.chunks)},
		CreatedAt: at, UpdatedAt: at, UpdatedBy: by.userID,
	}
	replaced := ""
	if old != nil {
		f.CreatedAt, replaced = old.CreatedAt, old.Version
	}
	f.Version = by.newVersion(replaced)
	return f
}

// checkFolders returns an error if, after all operations, a path would be both a file and a folder.
func (p plan) checkFolders(b before) error {
	after := map[string]bool{} // whether a file exists after the operations, for the paths that change
	for _, c := range p.changes {
		after[c.path] = c.after != nil
	}
	for i, c := range p.changes {
		if !c.creates() {
			continue
		}
		for _, folder := range path.Ancestors(c.path) {
			isFile, changes := after[folder]
			if isFile || (!changes && b.file(folder) != nil) {
				return &operationError{p.operation[i], errInsideFile}
			}
		}
		for _, other := range b.inside[c.path] {
			if isFile, changes := after[other]; isFile || !changes {
				return &operationError{p.operation[i], errIsFolder}
			}
		}
	}
	return nil
}

func errFileQuota(quotas Quotas) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded, fmt.Sprintf("The project has reached its limit of %d files.", quotas.Files))
}

func errStorageQuota(quotas Quotas) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded,
		"The files of the project have reached their limit of "+inMiB(quotas.Bytes)+".")
}

// checkQuotas returns an error if the project would grow beyond its quotas. The transaction checks the same again,
// because other requests may write at the same time.
func (p plan) checkQuotas(quotas Quotas) error {
	switch {
	case p.files > 0 && p.tree.Files+p.files > quotas.Files:
		return errFileQuota(quotas)
	case p.bytes > 0 && p.tree.Bytes+p.bytes > quotas.Bytes:
		return errStorageQuota(quotas)
	}
	return nil
}

func inMiB(bytes int) string {
	if bytes%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
}
