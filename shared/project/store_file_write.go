package project

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
)

// versionRetention is how long a version is kept after it was replaced (API.md §5).
const versionRetention = 30 * 24 * time.Hour

// fileWrites are a plan's writes, the tree's first, without events.
func (s store) fileWrites(projectID string, plan filePlan, tree treeRecord, quotas Quotas, now time.Time) ([]db.Write, error) {
	writes := []db.Write{s.treeWrite(projectID, plan, tree, quotas)}
	for _, change := range plan.changes {
		more, err := s.changeWrites(projectID, change, now)
		if err != nil {
			return nil, err
		}
		writes = append(writes, more...)
	}
	return writes, nil
}

// treeWrite counts what a plan adds and takes away. It fails when the project is gone, when a quota would be exceeded, and,
// for a plan that creates, when the tree is not as it was: whoever creates raises its version.
func (s store) treeWrite(projectID string, plan filePlan, tree treeRecord, quotas Quotas) db.Write {
	key := db.TreeKey(projectID)
	if plan.files == 0 && plan.bytes == 0 && !plan.creates {
		return s.projects.Check(key, s.projects.Exists()).WithOld()
	}
	files, bytes, version := expression.Name("files"), expression.Name("bytes"), expression.Name("version")
	update := expression.Add(files, expression.Value(plan.files)).Add(bytes, expression.Value(plan.bytes))
	cond := s.projects.Exists()
	if plan.creates {
		update = update.Add(version, expression.Value(1))
		cond = cond.And(version.Equal(expression.Value(tree.Version)))
	}
	if plan.files > 0 {
		cond = cond.And(files.LessThanEqual(expression.Value(quotas.Files - plan.files)))
	}
	if plan.bytes > 0 {
		cond = cond.And(bytes.LessThanEqual(expression.Value(quotas.Bytes - plan.bytes)))
	}
	return s.projects.Update(key, update).If(cond).WithOld()
}

// changeWrites are what becomes of one path: the file's record, the version that it had, the chunks of its new content.
func (s store) changeWrites(projectID string, c fileChange, now time.Time) ([]db.Write, error) {
	key := db.FileKey(projectID, c.path)
	asRead := func() expression.ConditionBuilder {
		return expression.Name("version").Equal(expression.Value(c.before.Version))
	}
	if c.isNone() { // the others happen only if it stays so
		return []db.Write{s.projects.Check(key, asRead())}, nil
	}
	var writes []db.Write
	if c.before != nil {
		old, err := db.Encode(versionRecord{fileRecord: *c.before, ExpiresAt: now.Add(versionRetention).Unix()})
		if err != nil {
			return nil, err
		}
		writes = append(writes, s.projects.Put(db.VersionKey(projectID, pathHash(c.path), c.before.Version), old))
	}
	if c.after == nil {
		return append(writes, s.projects.Delete(key).If(asRead())), nil
	}
	record, err := db.Encode(*c.after)
	if err != nil {
		return nil, err
	}
	if c.before == nil {
		writes = append(writes, s.projects.Create(key, record))
	} else {
		writes = append(writes, s.projects.Put(key, record).If(asRead()))
	}
	chunks, err := s.chunkWrites(projectID, c)
	return append(writes, chunks...), err
}

// chunkWrites store a new content. All of its chunks travel in the transaction, so that none is ever without its file.
func (s store) chunkWrites(projectID string, c fileChange) ([]db.Write, error) {
	if c.content == nil {
		return nil, nil
	}
	writes := make([]db.Write, len(c.content.chunks))
	for i, data := range c.content.chunks {
		item, err := db.Encode(chunkRecord{Data: data})
		if err != nil {
			return nil, err
		}
		writes[i] = s.contents.Put(db.ChunkKey(projectID, c.after.Content, i), item)
	}
	return writes, nil
}
