package file

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/project/content"
	"devplatform/shared/workspace"
)

// commit writes a plan and its events in one transaction. Call it within db.Retry.
// Errors: PROJECT_NOT_FOUND if the project was deleted; db.ErrStale if the plan is no longer valid.
func (s store) commit(ctx context.Context, projectID string, p plan, events []db.Write) error {
	writes := []db.Write{s.treeWrite(projectID, p)}
	for _, c := range p.changes {
		more, err := s.changeWrites(projectID, p, c)
		if err != nil {
			return err
		}
		writes = append(writes, more...)
	}
	err := s.client.TransactOnce(ctx, append(writes, events...)...)
	switch {
	case !errors.Is(err, db.ErrConditionFailed):
		return err
	case db.FailedAt(err, 0) && db.OldItem(err, 0) == nil:
		return workspace.ErrProjectNotFound.WithCause(err)
	default:
		return fmt.Errorf("%w: %w", db.ErrStale, err)
	}
}

// treeWrite returns the write that updates the tree's counters. The write fails if the project does not exist or would
// exceed a quota. If the plan creates files, the write also fails if another request has created files in the meantime:
// each creation increments the tree's version.
func (s store) treeWrite(projectID string, p plan) db.Write {
	if p.files == 0 && p.bytes == 0 && !p.creates {
		return s.ProjectExists(projectID).WithOld()
	}
	files, bytes, version := expression.Name("files"), expression.Name("bytes"), expression.Name("version")
	update := expression.Add(files, expression.Value(p.files)).Add(bytes, expression.Value(p.bytes))
	cond := s.Projects.Exists()
	if p.creates {
		update = update.Add(version, expression.Value(1))
		cond = cond.And(version.Equal(expression.Value(p.tree.Version)))
	}
	if p.files > 0 {
		cond = cond.And(files.LessThanEqual(expression.Value(s.quotas.Files - p.files)))
	}
	if p.bytes > 0 {
		cond = cond.And(bytes.LessThanEqual(expression.Value(s.quotas.Bytes - p.bytes)))
	}
	return s.Projects.Update(db.TreeKey(projectID), update).If(cond).WithOld()
}

// changeWrites returns the writes of one change: the file's record, the replaced version, and the chunks of the new
// content.
func (s store) changeWrites(projectID string, p plan, c change) ([]db.Write, error) {
	key := db.FileKey(projectID, c.path)
	unchanged := func() expression.ConditionBuilder {
		return expression.Name("version").Equal(expression.Value(c.before.Version))
	}
	if c.isEmpty() { // the plan is valid only if the file still has this version
		return []db.Write{s.Projects.Check(key, unchanged())}, nil
	}
	var writes []db.Write
	if c.before != nil {
		replaced := *c.before
		replaced.ExpiresAt = p.at.Add(content.Retention).Unix()
		old, err := db.Encode(replaced)
		if err != nil {
			return nil, err
		}
		writes = append(writes, s.Projects.Put(db.VersionKey(projectID, pathHash(c.path), c.before.Version), old))
	}
	if c.after == nil {
		return append(writes, s.Projects.Delete(key).If(unchanged())), nil
	}
	record, err := db.Encode(*c.after)
	if err != nil {
		return nil, err
	}
	if c.before == nil {
		writes = append(writes, s.Projects.Create(key, record))
	} else {
		writes = append(writes, s.Projects.Put(key, record).If(unchanged()))
	}
	chunks, err := s.chunkWrites(projectID, c)
	return append(writes, chunks...), err
}

// chunkWrites returns the writes of new content. All chunks are part of the transaction, so a failed save leaves no
// chunks behind.
func (s store) chunkWrites(projectID string, c change) ([]db.Write, error) {
	if c.content == nil {
		return nil, nil
	}
	writes := make([]db.Write, len(c.content.chunks))
	for i, data := range c.content.chunks {
		item, err := db.Encode(chunkRecord{Data: data})
		if err != nil {
			return nil, err
		}
		writes[i] = s.contents.Put(db.ChunkKey(projectID, c.after.ContentID, i), item)
	}
	return writes, nil
}
