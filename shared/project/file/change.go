package file

import (
	"cmp"
	"context"
	"crypto/sha256"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/content"
)

// ApplyBatch validates operations and applies them in one transaction, for other packages. The handlers of this package
// call apply, because the input of their requests has been validated. Errors: VALIDATION_FAILED; the errors of apply,
// with the index of the failed operation in the message.
func (s *Service) ApplyBatch(ctx context.Context, caller httpapi.Caller, projectID string, ops []Operation) error {
	if problems := checkBatch(ops); len(problems) > 0 {
		return errInvalidBatch.WithCause(fault.Invalid(problems...))
	}
	_, err := s.apply(ctx, caller, projectID, ops...)
	return withOperationIndex(err)
}

// apply applies operations in one transaction, together with an event for each file that changes. The operations must
// have been validated. If another request changes the same files first, apply plans the operations again on the new
// state. So a precondition fails only if the file really has a different version. Errors: PROJECT_NOT_FOUND,
// ACCESS_DENIED, FILE_NOT_FOUND, PRECONDITION_FAILED, CONFLICT, QUOTA_EXCEEDED.
func (s *Service) apply(
	ctx context.Context, caller httpapi.Caller, projectID string, ops ...Operation,
) (p plan, err error) {
	for i := range ops {
		op := &ops[i]
		if !op.hasContent() || op.packed != nil { // the content of an upload is packed already
			continue
		}
		packed, format, err := content.PackFile(op.data)
		if err != nil {
			return p, &operationError{i, err}
		}
		sum := sha256.Sum256(op.data)
		op.packed = &packedContent{
			contentID: s.newVersion(""), encoding: cmp.Or(op.Encoding, UTF8), size: len(op.data), sha256: sum[:],
			data: packed, format: format,
		}
	}
	err = db.Retry(ctx, "change files", func(ctx context.Context) error {
		by := author{userID: caller.UserID, at: s.now(), newVersion: s.newVersion}
		access, stored, err := s.store.readState(ctx, caller.UserID, projectID, ops)
		if err != nil {
			return err
		}
		p, err = planFiles(ops, stored, by, s.store.quotas)
		if err != nil {
			return s.makeRoom(ctx, projectID, stored.tree, err)
		}
		if p.isEmpty() {
			return nil
		}
		if err := s.store.storeObjects(ctx, projectID, p); err != nil {
			return err
		}
		return s.store.commit(ctx, caller, access, p)
	})
	return p, err
}

// The functions below decide how operations change a project, based on the records that were read. They do no I/O.
// Failure policy: if operations fail, the whole batch fails with the error of the first failed operation. The
// transaction that writes the plan checks that the records have not changed.

// state is the stored state on which a plan is based.
type state struct {
	tree Tree
	// files contains existing files, by path: the files that operations name, and the files at the paths of the parent
	// folders of new files.
	files map[string]File
	// folders contains the folder of each new file, and whether there is a file inside it.
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
	kind event.Type // the type of its event, "" if nothing changes
	// before and after are the file's records. nil means that there is no file. They are the same pointer if nothing
	// changes.
	before, after *File
	// content is the content to store under after.ContentID. It is nil if the content is already stored.
	content *packedContent
	// contentInUse means that the content is still in use under another path.
	contentInUse bool
	operation    int // the index of the operation
}

func (c change) creates() bool { return c.kind == event.FileCreated }
func (c change) isEmpty() bool { return c.kind == "" }

// plan is the effect of operations.
type plan struct {
	author

	tree    Tree     // the tree on which the plan is based
	changes []change // the changes of all operations, in operation order
	// add has the numbers to add to the counters of the tree.
	add Tree
	// written is the number of bytes of new content. The bytes of an upload were counted when it was announced.
	written int
	// upload is the upload that the plan completes, or nil.
	upload *upload
}

// isEmpty reports whether there is nothing to write.
func (p plan) isEmpty() bool { return p.upload == nil && p.add.Revision == 0 }

// creates reports whether the plan creates files.
func (p plan) creates() bool { return p.add.Version > 0 }

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

// planFiles returns the effect of operations. Errors: *operationError; QUOTA_EXCEEDED, if the project or the user would
// exceed a quota; errMustRecount; errUploadCompleted.
func planFiles(ops []Operation, stored state, by author, quotas Quotas) (plan, error) {
	p := plan{author: by, tree: stored.tree, upload: stored.upload}
	if p.upload.isCompleted() {
		return p, errUploadCompleted
	}
	if p.upload.isOpen() { // the file replaces the reservation
		p.add.Uploads, p.add.Bytes = -1, -p.upload.Size
	}
	for i, op := range ops {
		changes, err := op.plan(stored, by)
		if err != nil {
			return p, &operationError{i, err}
		}
		for _, c := range changes {
			c.operation = i
			p.changes = append(p.changes, c)
			if c.isEmpty() {
				continue
			}
			p.add.Revision = 1
			if c.before == nil {
				p.add.Version = 1
			} else {
				p.add.Files, p.add.Bytes = p.add.Files-1, p.add.Bytes-c.before.Size
				p.add.OldBytes += c.before.Size
			}
			if c.after == nil {
				p.add.Removed = 1
			} else {
				p.add.Files, p.add.Bytes = p.add.Files+1, p.add.Bytes+c.after.Size
			}
			if c.content != nil && p.upload == nil {
				p.written += c.content.size
			}
		}
	}
	if err := p.checkCollisions(stored); err != nil {
		return p, err
	}
	switch { // the transaction checks the quotas again, because other requests may write at the same time
	case p.add.Files > 0 && p.tree.Files+p.add.Files > quotas.Files:
		return p, errFileQuota(quotas)
	case p.add.Bytes > 0 && p.tree.Bytes+p.add.Bytes > quotas.Bytes:
		return p, errStorageQuota(quotas)
	case p.written > stored.writable:
		return p, errWrittenQuota(quotas)
	case p.add.OldBytes == 0, p.tree.OldBytes+p.add.OldBytes <= quotas.OldBytes:
		return p, nil
	case p.at.Unix() >= p.tree.OldRecountAt:
		return p, errMustRecount
	}
	return p, errOldQuota(quotas)
}

// plan returns the changes of one operation. They do not depend on the other operations, because no two operations
// name the same path.
func (op Operation) plan(stored state, by author) ([]change, error) {
	old, etag, replaced := stored.file(op.Path), "", ""
	if old != nil {
		etag, replaced = old.ETag(), old.Version
	}
	switch {
	case op.Action == Create && old != nil:
		return nil, errFileExists
	case op.Action != Create && op.Action != Save && old == nil:
		return nil, errNotFound
	}
	if err := op.condition.Check(etag); err != nil {
		return nil, err
	}
	at := clock.Stamp(by.at)
	removal := change{path: op.Path, kind: event.FileDeleted, before: old}
	switch {
	case op.Action == Delete:
		return []change{removal}, nil
	case op.Action == Rename && stored.file(op.To) != nil:
		return nil, errFileExists
	case op.Action == Rename:
		renamed := *old
		renamed.Path, renamed.Version = op.To, by.newVersion(replaced)
		renamed.UpdatedAt, renamed.UpdatedBy = at, by.userID
		removal.contentInUse = true
		return []change{removal, {path: op.To, kind: event.FileCreated, after: &renamed}}, nil
	case old != nil && op.packed.equals(old) && (op.uploadID == "" || op.packed.contentType == old.ContentType):
		return []change{{path: op.Path, before: old, after: old}}, nil
	}
	saved := change{path: op.Path, kind: event.FileCreated, before: old, content: op.packed, after: &File{
		Path: op.Path, Size: op.packed.size, SHA256: op.packed.sha256, Encoding: op.packed.encoding,
		Version: by.newVersion(replaced), ContentType: op.packed.contentType, Ref: op.packed.ref(),
		CreatedAt: at, UpdatedAt: at, UpdatedBy: by.userID,
	}}
	if old != nil {
		saved.kind, saved.after.CreatedAt = event.FileUpdated, old.CreatedAt
	}
	return []change{saved}, nil
}
