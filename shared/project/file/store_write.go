package file

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/limit"
	"devplatform/shared/project/content"
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

// commit writes a plan and its events in one transaction. Call it within db.Retry.
// Errors: PROJECT_NOT_FOUND if the project was deleted; QUOTA_EXCEEDED if the user has written too much on this day;
// db.ErrStale if the plan is no longer valid.
func (s store) commit(ctx context.Context, projectID string, p plan, events []db.Write) error {
	tx := s.client.Tx(s.treeWrite(projectID, p))
	if n := p.newBytes(); n > 0 {
		tx.Add(s.countWritten(p.userID, p.at, n))
	}
	for _, c := range p.changes {
		tx.Add(s.changeWrites(projectID, p, c)...)
	}
	if p.upload != nil {
		tx.Add(s.settleWrite(projectID, p.upload, uploadCompleted, p.results()[0].Version, p.at))
	}
	tx.Add(events...)
	return tx.CommitOnce(ctx)
}

// treeWrite returns the write that updates the tree's counters. Errors: PROJECT_NOT_FOUND; db.ErrStale if the project
// would exceed a quota, or if the plan is no longer valid (see plan.noCollision).
func (s store) treeWrite(projectID string, p plan) db.Write {
	update := expression.Add(attrFiles, expression.Value(p.files)).Add(attrBytes, expression.Value(p.bytes))
	if p.changesFiles() {
		update = update.Add(attrChanges, expression.Value(1))
	}
	if p.upload.isOpen() {
		update = update.Add(attrUploads, expression.Value(-1))
	}
	cond := s.Projects.Exists()
	if p.creates {
		update = update.Add(attrVersion, expression.Value(1))
		cond = cond.And(p.noCollision())
	}
	if p.newFolders {
		update = update.Add(attrFolders, expression.Value(1))
	}
	if p.removes {
		update = update.Add(attrRemoved, expression.Value(1))
	}
	if p.files > 0 {
		cond = cond.And(attrFiles.LessThanEqual(expression.Value(s.quotas.Files - p.files)))
	}
	if p.bytes > 0 {
		cond = cond.And(attrBytes.LessThanEqual(expression.Value(s.quotas.Bytes - p.bytes)))
	}
	if p.oldBytes > 0 {
		update = update.Add(attrOldBytes, expression.Value(p.oldBytes))
		cond = cond.And(attrOldBytes.LessThanEqual(expression.Value(s.quotas.OldBytes - p.oldBytes)))
	}
	return s.Projects.Update(db.TreeKey(projectID), update).If(cond).ElseFunc(workspace.ChangeError)
}

// noCollision returns the condition that the plan still makes no path both a file and a folder, although other requests
// may have changed files since the tree was read. A path is a folder if there is a file inside it.
//
// A new file in a folder that contained another file when the tree was read collides only if a request has created a
// folder at its path, or removed the files of its folder. So requests that create files in the same folder do not
// conflict with each other. A file that may create folders can also collide with a new file at the path of one of them.
// So it conflicts with every creation.
func (p plan) noCollision() expression.ConditionBuilder {
	cond := equals(attrFolders, p.tree.Folders).And(equals(attrRemoved, p.tree.Removed))
	if p.newFolders {
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

// countWritten returns the write that counts the bytes that a user writes on a day (UTC). Error: QUOTA_EXCEEDED.
func (s store) countWritten(userID string, at time.Time, n int) db.Write {
	return s.counters.Add(s.writtenRule(), userID, at, n).Else(errWrittenQuota(s.quotas))
}

func (s store) writtenRule() limit.Rule {
	return limit.Rule{Name: "written", Limit: s.quotas.WrittenPerDay, Window: 24 * time.Hour}
}

// changeWrites returns the writes of one change: the file's record, the replaced version, and the new content if it is
// not an object.
func (s store) changeWrites(projectID string, p plan, c change) (writes []db.Write) {
	key := db.FileKey(projectID, c.path)
	unchanged := func() expression.ConditionBuilder {
		return expression.Name("version").Equal(expression.Value(c.before.Version))
	}
	if c.isEmpty() { // the plan is valid only if the file still has this version
		return []db.Write{s.Projects.Check(key, unchanged())}
	}
	if c.before != nil {
		replaced := *c.before
		replaced.ExpiresAt = p.at.Add(content.Retention).Unix()
		writes = append(writes, s.Projects.Put(db.VersionKey(projectID, pathHash(c.path), c.before.Version), replaced))
	}
	if c.after == nil {
		return append(writes, s.Projects.Delete(key).If(unchanged()))
	}
	if c.before == nil {
		writes = append(writes, s.Projects.Create(key, *c.after))
	} else {
		writes = append(writes, s.Projects.Put(key, *c.after).If(unchanged()))
	}
	if c.content != nil && c.content.ref().Chunks > 0 { // in the transaction, so a failed save leaves no chunk behind
		writes = append(writes, s.contents.Put(db.ChunkKey(projectID, c.after.ContentID), chunkRecord{c.content.data}))
	}
	return writes
}
