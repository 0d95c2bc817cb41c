package file

import (
	"cmp"
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/async"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/content"
	"devplatform/shared/project/path"
	"devplatform/shared/workspace"
)

// The attributes of the tree.
var (
	attrFiles        = expression.Name("files")
	attrBytes        = expression.Name("bytes")
	attrVersion      = expression.Name("version")
	attrFolders      = expression.Name("folders")
	attrRemoved      = expression.Name("removed")
	attrChanges      = expression.Name("changes")
	attrUploads      = expression.Name("uploads")
	attrOldBytes     = expression.Name("oldBytes")
	attrOldRecountAt = expression.Name("oldRecountAt")
)

// readState checks that a user may write to a project, and reads the stored state that planFiles needs, with two calls
// to storage. Files that can collide with a new file are read at the same time as the second call. Errors:
// PROJECT_NOT_FOUND, ACCESS_DENIED.
func (s store) readState(
	ctx context.Context, userID, projectID string, ops []Operation,
) (access workspace.ProjectAccess, stored state, err error) {
	var paths []string
	uploadID := "" // an operation that completes an upload is the only one
	for _, op := range ops {
		paths, uploadID = append(paths, op.Path, op.To), op.uploadID
	}
	uploadKey := db.UploadKey(projectID, uploadID)
	written := s.counters.Counter(s.writtenRule(), userID)
	keys := append(fileKeys(projectID, paths), written.Key(), uploadKey)
	if access, err = s.Locate(ctx, projectID, s.Projects.Refs(keys...)...); err != nil {
		return access, stored, err
	}
	if stored.tree, err = db.Decode[Tree](access.Items[db.TreeKey(projectID)]); err != nil {
		return access, stored, err
	}
	if err := written.Load(access.Items[written.Key()]); err != nil {
		return access, stored, err
	}
	stored.writable = written.Remaining()
	if uploadID != "" {
		if stored.upload, err = decodeUpload(uploadID, access.Items[uploadKey]); err != nil {
			return access, stored, err
		}
	}
	var created, folders []string
	for _, op := range ops {
		if p := op.createdPath(); p != "" && access.Items[db.FileKey(projectID, p)] == nil {
			created, folders = append(created, p), append(folders, path.Ancestors(p)...)
		}
	}
	reads, readCtx := async.WithContext(ctx)
	reads.Go(func() (err error) {
		more := s.Projects.Refs(fileKeys(projectID, folders)...)
		access, err = s.Load(readCtx, userID, access, workspace.Write, more...)
		return err
	})
	if len(created) > 0 {
		reads.Go(func() error { return s.readCollisions(readCtx, projectID, created, len(ops)+1, &stored) })
	}
	if err := reads.Wait(); err != nil {
		return access, stored, err
	}
	stored.files, err = filesAt(projectID, append(paths, folders...), access.Items)
	return access, stored, err
}

// commit writes a plan and its events in one transaction. Call it within db.Retry. Errors: PROJECT_NOT_FOUND if the
// project was deleted; QUOTA_EXCEEDED if the user has written too much on this day; db.ErrStale if the project would
// exceed a quota, or if the plan is no longer valid (see plan.noCollision).
func (s store) commit(ctx context.Context, caller httpapi.Caller, access workspace.ProjectAccess, p plan) error {
	projectID := access.ProjectID
	update, cond := expression.UpdateBuilder{}, s.Projects.Exists()
	if p.creates() {
		cond = cond.And(p.noCollision())
	}
	for i, counter := range []struct {
		attribute  expression.NameBuilder
		add, quota int // quota is 0 if there is none
	}{
		{attrFiles, p.add.Files, s.quotas.Files}, {attrBytes, p.add.Bytes, s.quotas.Bytes},
		{attrOldBytes, p.add.OldBytes, s.quotas.OldBytes}, {attrUploads, p.add.Uploads, 0},
		{attrChanges, p.add.Revision, 0}, {attrVersion, p.add.Version, 0}, {attrFolders, p.add.Folders, 0},
		{attrRemoved, p.add.Removed, 0},
	} {
		if counter.add != 0 || i == 0 { // an update must name at least one attribute
			update = update.Add(counter.attribute, expression.Value(counter.add))
		}
		if counter.add > 0 && counter.quota > 0 {
			cond = cond.And(counter.attribute.LessThanEqual(expression.Value(counter.quota - counter.add)))
		}
	}
	tx := s.client.Tx(
		s.Projects.Update(db.TreeKey(projectID), update).If(cond).ElseFunc(workspace.ChangeError),
	)
	if p.written > 0 {
		tx.Add(s.countWritten(p.userID, p.at, p.written))
	}
	e := event.Change{WorkspaceID: access.WorkspaceID, ProjectID: projectID, Data: event.Data{
		Actor:   workspace.ActorOf(caller),
		Project: &event.Project{ID: projectID, Name: access.Name},
	}}
	for _, c := range p.changes {
		writes, err := s.changeWrites(e, c, p.at)
		if err != nil {
			return err
		}
		tx.Add(writes...)
	}
	if p.upload != nil {
		tx.Add(s.settleWrite(projectID, p.upload, uploadCompleted, p.results()[0].Version, p.at))
	}
	return tx.CommitOnce(ctx)
}

// changeWrites returns the writes of one change: the replaced version, the file's record, the new content if it is not
// an object, and the event, which is e with the type and the file. The event of a deletion contains the file as it was
// before the deletion.
func (s store) changeWrites(e event.Change, c change, at time.Time) (writes []db.Write, err error) {
	projectID := e.ProjectID
	key := db.FileKey(projectID, c.path)
	record := s.Projects.Delete(key)
	switch {
	case c.before == nil:
		record = s.Projects.Create(key, *c.after)
	case c.isEmpty(): // the plan is valid only if the file still has this version
		return []db.Write{s.Projects.Check(key, hasVersion(c.before.Version))}, nil
	case c.after != nil:
		record = s.Projects.Put(key, *c.after)
	}
	e.Type, e.Data.File = c.kind, cmp.Or(c.after, c.before).event()
	if c.before != nil {
		record = record.If(hasVersion(c.before.Version))
		replaced := *c.before
		replaced.ExpiresAt = at.Add(content.Retention).Unix()
		writes = append(writes, s.Projects.Put(db.VersionKey(projectID, pathHash(c.path), replaced.Version), replaced))
		if !c.contentInUse && replaced.Chunks > 0 { // the cleanup's sweep removes objects without an event
			e.Replaced = &event.Content{ID: replaced.ContentID, Chunks: replaced.Chunks}
		}
	}
	writes = append(writes, record)
	if c.content != nil && c.content.ref().Chunks > 0 { // in the transaction, so a failed save leaves no chunk behind
		chunk := db.ChunkKey(projectID, c.after.ContentID)
		writes = append(writes, s.contents.Put(chunk, chunkRecord{c.content.data}))
	}
	stored, err := s.outbox.Add(e, at)
	return append(writes, stored), err
}

// hasVersion returns the condition that a file has a version.
func hasVersion(version string) expression.ConditionBuilder {
	return attrVersion.Equal(expression.Value(version))
}

// noCollision returns the condition that the plan still makes no path both a file and a folder, although other requests
// may have changed files since the tree was read.
//
// A new file in a folder that contained another file when the tree was read collides only if a request has created a
// folder at its path, or removed the files of its folder. So requests that create files in the same folder do not
// conflict with each other. A file that may create folders can also collide with a new file at the path of one of them.
// So it conflicts with every creation.
func (p plan) noCollision() expression.ConditionBuilder {
	cond := equals(attrFolders, p.tree.Folders).And(equals(attrRemoved, p.tree.Removed))
	if p.add.Folders > 0 {
		cond = cond.And(equals(attrVersion, p.tree.Version))
	}
	return cond
}

// equals returns the condition that a counter has a value. A counter without a value is 0.
func equals(counter expression.NameBuilder, n int) expression.ConditionBuilder {
	if n == 0 {
		return counter.AttributeNotExists().Or(counter.Equal(expression.Value(0)))
	}
	return counter.Equal(expression.Value(n))
}
