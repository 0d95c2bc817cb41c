package project

import (
	"errors"
	"fmt"

	"devplatform/shared/clock"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/path"
)

// What is to become of files is decided here, from what is stored, by functions that read and write nothing. Failure policy:
// the first operation that can't be done fails them all. Whether a decision still holds when it is written is the
// transaction's business; if not, everything is read and decided anew.

// fileAction is what an operation does to a file.
type fileAction string

// The actions: those of a batch, and saving, which creates or updates.
const (
	actSave   fileAction = "save"
	actCreate fileAction = "create"
	actUpdate fileAction = "update"
	actDelete fileAction = "delete"
	actRename fileAction = "rename"
)

// fileOperation is one thing to be done, its input checked as far as that goes without what is stored.
type fileOperation struct {
	action    fileAction
	path      string
	to        string       // of a rename
	content   *fileContent // of a save, a creation and an update
	contentID string       // the content's, should it come to be stored
	condition httpapi.Preconditions
}

// mayCreate is the path at which the operation may make a file, "" if it makes none.
func (op fileOperation) mayCreate() string {
	switch op.action {
	case actSave, actCreate:
		return op.path
	case actRename:
		return op.to
	default:
		return ""
	}
}

// filesBefore is what is stored where operations go.
type filesBefore struct {
	tree treeRecord
	// files are those that the operations name and those that stand where a creation needs a folder, by path.
	files map[string]fileRecord
	// inside are paths of files that need a path to be a folder, by that path: one more than the operations can take away.
	inside map[string][]string
}

// file is the file at a path, nil if there is none.
func (b filesBefore) file(path string) *fileRecord {
	if f, ok := b.files[path]; ok {
		return &f
	}
	return nil
}

// author is who makes a change, and when.
type author struct {
	userID string
	at     clock.Timestamp
	// versionAfter makes the name of a version that follows another one, "" for none.
	versionAfter func(version string) string
}

// fileChange is what becomes of one path.
type fileChange struct {
	path string
	// before and after are the file's record, nil where there is no file; the same one if nothing changes.
	before, after *fileRecord
	// content is what has to be stored under after's content id, nil if it is there already.
	content *fileContent
	// moved says that the content goes on under another path.
	moved bool
}

func (c fileChange) creates() bool { return c.before == nil && c.after != nil }
func (c fileChange) removes() bool { return c.before != nil && c.after == nil }
func (c fileChange) isNone() bool  { return c.before == c.after }

// filePlan is what operations come to.
type filePlan struct {
	changes []fileChange // of all operations, in their order
	of      []int        // the operation of each change
	// files and bytes are by how much the project grows.
	files, bytes int
	// creates says that the plan holds only for the version of the tree that it was made for.
	creates bool
}

// isNone reports whether there is nothing to write.
func (p filePlan) isNone() bool {
	for _, c := range p.changes {
		if !c.isNone() {
			return false
		}
	}
	return true
}

// left are the files that the operations leave behind, in the order of the operations.
func (p filePlan) left() []file {
	var files []file
	for _, c := range p.changes {
		if c.after != nil {
			files = append(files, file{Path: c.path, fileRecord: *c.after})
		}
	}
	return files
}

// operationError says which operation can't be done. For errors.As it is the *fault.Error of its cause.
type operationError struct {
	index int
	cause error
}

func (e *operationError) Error() string { return fmt.Sprintf("operation %d: %v", e.index, e.cause) }
func (e *operationError) Unwrap() error { return e.cause }

// What operations fail with, beside errNoFile and a precondition's own error.
var (
	errFileExists = fault.New(fault.CodeConflict, "There is a file with this path already.")
	errIsFolder   = fault.New(fault.CodeConflict, "This path is a folder of other files.")
	errInsideFile = fault.New(fault.CodeConflict, "This path runs through another file as if it were a folder.")
)

// planFiles decides what operations come to. Errors: *operationError; QUOTA_EXCEEDED.
func planFiles(ops []fileOperation, before filesBefore, by author, quotas Quotas) (filePlan, error) {
	var plan filePlan
	for i, op := range ops {
		changes, err := op.plan(before, by)
		if err != nil {
			return plan, &operationError{i, err}
		}
		for _, c := range changes {
			plan.add(c, i)
		}
	}
	if err := plan.checkFolders(before); err != nil {
		return plan, err
	}
	return plan, plan.checkQuotas(before.tree, quotas)
}

func (p *filePlan) add(c fileChange, op int) {
	p.changes, p.of = append(p.changes, c), append(p.of, op)
	if c.before != nil {
		p.files, p.bytes = p.files-1, p.bytes-c.before.Size
	}
	if c.after != nil {
		p.files, p.bytes = p.files+1, p.bytes+c.after.Size
	}
	p.creates = p.creates || c.creates()
}

// plan decides what one operation comes to, whatever the others do: no two go to the same path.
func (op fileOperation) plan(before filesBefore, by author) ([]fileChange, error) {
	old := before.file(op.path)
	if err := op.admit(old); err != nil {
		return nil, err
	}
	switch {
	case op.action == actDelete:
		return []fileChange{{path: op.path, before: old}}, nil
	case op.action == actRename:
		if before.file(op.to) != nil {
			return nil, errFileExists
		}
		moved := *old
		moved.Version, moved.UpdatedAt, moved.UpdatedBy = by.versionAfter(old.Version), by.at, by.userID
		return []fileChange{{path: op.path, before: old, moved: true}, {path: op.to, after: &moved}}, nil
	case old != nil && op.content.isContentOf(*old):
		return []fileChange{{path: op.path, before: old, after: old}}, nil
	}
	return []fileChange{{path: op.path, before: old, after: op.record(old, by), content: op.content}}, nil
}

// admit asks whether the operation may meet what it finds.
func (op fileOperation) admit(old *fileRecord) error {
	switch {
	case op.action == actCreate && old != nil:
		return errFileExists
	case op.action != actCreate && op.action != actSave && old == nil:
		return errNoFile
	case old == nil:
		return op.condition.Check("")
	default:
		return op.condition.Check(etag(old.Version))
	}
}

// record is the file as a save leaves it.
func (op fileOperation) record(old *fileRecord, by author) *fileRecord {
	f := &fileRecord{
		Size: op.content.size, SHA256: op.content.sha256, Encoding: op.content.encoding,
		Content: op.contentID, Chunks: len(op.content.chunks), CreatedAt: by.at, UpdatedAt: by.at, UpdatedBy: by.userID,
	}
	replaced := ""
	if old != nil {
		f.CreatedAt, replaced = old.CreatedAt, old.Version
	}
	f.Version = by.versionAfter(replaced)
	return f
}

// checkFolders refuses to make a file where a folder is, or a folder where a file is, as things stand once all
// operations are done.
func (p filePlan) checkFolders(before filesBefore) error {
	after := map[string]bool{} // whether there is a file, of the paths that change
	for _, c := range p.changes {
		after[c.path] = c.after != nil
	}
	for i, c := range p.changes {
		if !c.creates() {
			continue
		}
		for _, folder := range path.Ancestors(c.path) {
			isFile, changes := after[folder]
			if isFile || (!changes && before.file(folder) != nil) {
				return &operationError{p.of[i], errInsideFile}
			}
		}
		for _, other := range before.inside[c.path] {
			if isFile, changes := after[other]; isFile || !changes {
				return &operationError{p.of[i], errIsFolder}
			}
		}
	}
	return nil
}

func errManyFiles(quotas Quotas) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded, fmt.Sprintf("The quota of files is used up: a project has at most %d.", quotas.Files))
}

func errMuchStorage(quotas Quotas) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded, "The quota of storage is used up: the files of a project have at most "+inMiB(quotas.Bytes)+".")
}

// checkQuotas refuses growth beyond the quotas. The transaction holds the same line against everybody who writes meanwhile.
func (p filePlan) checkQuotas(tree treeRecord, quotas Quotas) error {
	switch {
	case p.files > 0 && tree.Files+p.files > quotas.Files:
		return errManyFiles(quotas)
	case p.bytes > 0 && tree.Bytes+p.bytes > quotas.Bytes:
		return errMuchStorage(quotas)
	}
	return nil
}

func inMiB(bytes int) string {
	if bytes%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// failedOperation is the index of the operation that err tells of; false if it tells of none.
func failedOperation(err error) (int, bool) {
	var failed *operationError
	if !errors.As(err, &failed) {
		return 0, false
	}
	return failed.index, true
}
