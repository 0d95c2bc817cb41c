package file

import (
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/project/path"
)

// The functions in this file decide how operations change a project, based on the records that were read. They do no
// I/O. Failure policy: if operations fail, the whole batch fails with the error of the first failed operation. The
// transaction that writes the plan checks that the records have not changed. If they have, the records are read again
// and a new plan is made.

// state is the stored state on which a plan is based.
type state struct {
	tree Tree
	// files contains existing files, by path: the files that operations name, and the files at the paths of the parent
	// folders of new files.
	files map[string]File
	// folders are the parent folders of new files that contain a file.
	folders map[string]bool
	// inside maps each path to be created to the paths of existing files inside it. A list of paths can be incomplete:
	// one path more than the operations can remove is sufficient.
	inside map[string][]string
	// writable is the number of bytes of new content that the user may still write on this day.
	writable int
	// upload is the upload that the operation completes, or nil.
	upload *upload
}

// file returns the file at a path, or nil if there is no file.
func (stored state) file(path string) *File {
	if f, ok := stored.files[path]; ok {
		return &f
	}
	return nil
}

// author is the user who makes changes, and the time of the changes.
type author struct {
	userID string
	at     time.Time
	// newVersion returns the ID of a new version. previous is the version that it replaces, or "".
	newVersion func(previous string) string
}

// change is the change of one path.
type change struct {
	path string
	// before and after are the file's records. nil means that there is no file. They are the same pointer if nothing
	// changes.
	before, after *File
	// content is the content to store under after.ContentID. It is nil if the content is already stored.
	content *packedContent
	// contentInUse means that the content is still in use under another path.
	contentInUse bool
	operation    int // the index of the operation
}

func (c change) creates() bool { return c.before == nil && c.after != nil }
func (c change) deletes() bool { return c.before != nil && c.after == nil }
func (c change) isEmpty() bool { return c.before == c.after }

// plan is the effect of operations.
type plan struct {
	author

	tree    Tree     // the tree on which the plan is based
	changes []change // the changes of all operations, in operation order
	// files and bytes are the differences in the number and the total size of the project's files. bytes does not
	// include what the upload has reserved.
	files, bytes int
	// oldBytes is the total size of the versions that the plan replaces or deletes, and thus stores as old versions.
	oldBytes int
	// upload is the upload that the plan completes, or nil.
	upload *upload
	// creates and removes mean that the plan creates files, and that it removes files from their paths.
	creates, removes bool
	// newFolders means that the plan may create folders: not all parent folders of its new files contain another file.
	newFolders bool
}

// isEmpty reports whether there is nothing to write.
func (p plan) isEmpty() bool { return p.upload == nil && !p.changesFiles() }

// changesFiles reports whether the plan changes a file.
func (p plan) changesFiles() bool {
	for _, c := range p.changes {
		if !c.isEmpty() {
			return true
		}
	}
	return false
}

// newBytes returns the number of bytes of new content. The bytes of an upload were counted when it was announced.
func (p plan) newBytes() (n int) {
	if p.upload != nil {
		return 0
	}
	for _, c := range p.changes {
		if c.content != nil {
			n += c.content.size
		}
	}
	return n
}

// results returns the resulting file of each operation except deletions, in operation order.
func (p plan) results() []File {
	var files []File
	for _, c := range p.changes {
		if c.after != nil {
			files = append(files, *c.after)
		}
	}
	return files
}

// planFiles returns the effect of operations. Errors: *operationError; QUOTA_EXCEEDED; errMustRecount.
func planFiles(ops []Operation, stored state, by author, quotas Quotas) (plan, error) {
	p := plan{author: by, tree: stored.tree, upload: stored.upload, bytes: -stored.upload.reservedBytes()}
	if stored.upload.isCompleted() {
		return p, errUploadCompleted
	}
	for i, op := range ops {
		changes, err := op.changes(stored, by)
		if err != nil {
			return p, &operationError{i, err}
		}
		for _, c := range changes {
			c.operation = i
			p.add(c)
		}
	}
	if err := p.checkFolders(stored); err != nil {
		return p, err
	}
	p.newFolders = p.mayCreateFolders(stored)
	return p, p.checkQuotas(stored, quotas)
}

func (p *plan) add(c change) {
	p.changes = append(p.changes, c)
	if c.before != nil {
		p.files, p.bytes = p.files-1, p.bytes-c.before.Size
	}
	if c.after != nil {
		p.files, p.bytes = p.files+1, p.bytes+c.after.Size
	}
	if c.before != nil && !c.isEmpty() {
		p.oldBytes += c.before.Size
	}
	p.creates, p.removes = p.creates || c.creates(), p.removes || c.deletes()
}

// changes returns the changes of one operation. They do not depend on the other operations, because no two operations
// name the same path.
func (op Operation) changes(stored state, by author) ([]change, error) {
	old := stored.file(op.Path)
	if err := op.checkOld(old); err != nil {
		return nil, err
	}
	switch {
	case op.Action == Delete:
		return []change{{path: op.Path, before: old}}, nil
	case op.Action == Rename:
		if stored.file(op.To) != nil {
			return nil, errFileExists
		}
		renamed := *old
		renamed.Path, renamed.Version = op.To, by.newVersion(old.Version)
		renamed.UpdatedAt, renamed.UpdatedBy = clock.Stamp(by.at), by.userID
		return []change{{path: op.Path, before: old, contentInUse: true}, {path: op.To, after: &renamed}}, nil
	case old != nil && op.packed.equals(old) && (op.uploadID == "" || op.packed.contentType == old.ContentType):
		return []change{{path: op.Path, before: old, after: old}}, nil
	}
	return []change{{path: op.Path, before: old, after: op.savedFile(old, by), content: op.packed}}, nil
}

// checkOld returns an error if the operation is not possible on the file at its path. old is nil if there is no file.
func (op Operation) checkOld(old *File) error {
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

// savedFile returns the file's record after a save. old is the replaced record, or nil.
func (op Operation) savedFile(old *File, by author) *File {
	at := clock.Stamp(by.at)
	f := &File{
		Path: op.Path, Size: op.packed.size, SHA256: op.packed.sha256, Encoding: op.packed.encoding,
		ContentType: op.packed.contentType, Ref: op.packed.ref(), CreatedAt: at, UpdatedAt: at, UpdatedBy: by.userID,
	}
	replaced := ""
	if old != nil {
		f.CreatedAt, replaced = old.CreatedAt, old.Version
	}
	f.Version = by.newVersion(replaced)
	return f
}

// checkFolders returns an error if a path would be both a file and a folder after all operations.
func (p plan) checkFolders(stored state) error {
	after := map[string]bool{} // whether a file exists after the operations, for the paths that change
	for _, c := range p.changes {
		after[c.path] = c.after != nil
	}
	for _, c := range p.changes {
		if !c.creates() {
			continue
		}
		for _, folder := range path.Ancestors(c.path) {
			isFile, isChanged := after[folder]
			if isFile || (!isChanged && stored.file(folder) != nil) {
				return &operationError{c.operation, errInsideFile}
			}
		}
		for _, other := range stored.inside[c.path] {
			if isFile, isChanged := after[other]; isFile || !isChanged {
				return &operationError{c.operation, errIsFolder}
			}
		}
	}
	return nil
}

// mayCreateFolders reports whether the plan may create folders. After a removal, a folder that contained a file may be
// empty.
func (p plan) mayCreateFolders(stored state) bool {
	if p.creates && p.removes {
		return true
	}
	for _, c := range p.changes {
		if folder := path.Parent(c.path); c.creates() && folder != "" && !stored.folders[folder] {
			return true
		}
	}
	return false
}

// checkQuotas returns an error if the project or the user would exceed a quota. The transaction checks the quotas
// again, because other requests may write at the same time. Errors: QUOTA_EXCEEDED; errMustRecount.
func (p plan) checkQuotas(stored state, quotas Quotas) error {
	switch {
	case p.files > 0 && p.tree.Files+p.files > quotas.Files:
		return errFileQuota(quotas)
	case p.bytes > 0 && p.tree.Bytes+p.bytes > quotas.Bytes:
		return errStorageQuota(quotas)
	case p.newBytes() > stored.writable:
		return errWrittenQuota(quotas)
	case p.oldBytes == 0, p.tree.OldBytes+p.oldBytes <= quotas.OldBytes:
		return nil
	case p.at.Unix() >= p.tree.OldRecountAt:
		return errMustRecount
	default:
		return errOldQuota(quotas)
	}
}
