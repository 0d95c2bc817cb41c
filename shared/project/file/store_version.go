package file

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// deleteVersion deletes the record of a replaced version, and subtracts its size from the tree's OldBytes if it is
// included there. Call it within db.Retry. Errors: PROJECT_NOT_FOUND; db.ErrStale.
func (s store) deleteVersion(ctx context.Context, projectID string, version db.Key, f File, tree Tree) error {
	update := expression.Add(attrChanges, expression.Value(1))
	notRecounted := s.Projects.Exists().And(attrOldRecountAt.Equal(expression.Value(tree.OldRecountAt)))
	if f.ExpiresAt >= tree.OldRecountAt { // OldBytes includes the version
		update = update.Add(attrOldBytes, expression.Value(-f.Size))
	}
	return s.client.Tx(
		s.Projects.Update(db.TreeKey(projectID), update).If(notRecounted).ElseFunc(workspace.ChangeError),
		s.Projects.Delete(version).If(s.Projects.Exists()),
	).CommitOnce(ctx)
}

const (
	// minRecount is the minimum time between two recounts of a project's old versions. Without it, every request that
	// exceeds the quota would read thousands of records.
	minRecount = time.Minute
	// maxRecount is the time after which a recount is always possible.
	maxRecount = 24 * time.Hour
)

// recountOld counts the bytes of a project's old versions and stores the result in the tree, if no file or version has
// changed since tree was read. It makes one call per MB of records. On success, it returns db.ErrStale, because plans
// that are based on tree are no longer valid.
//
// Expired versions are not counted, whether or not DynamoDB has deleted them. They expire before OldRecountAt, which is
// after the read. So DeleteFileVersion never subtracts a version that is not in OldBytes, and OldBytes is never too
// small.
func (s store) recountOld(ctx context.Context, projectID string, tree Tree, now clock.Clock) error {
	key := db.TreeKey(projectID)
	postpone := expression.Set(attrOldRecountAt, expression.Value(now().Add(minRecount).Unix()))
	if _, err := s.client.DoOnce(ctx, s.Projects.Update(key, postpone).
		If(attrOldRecountAt.Equal(expression.Value(tree.OldRecountAt)))); err != nil {
		return err // db.ErrStale if another request counts them
	}
	bytes, expiresAt := 0, int64(0) // expiresAt is when the first version expires, 0 if there are none
	err := db.EachRecord(ctx, s.Projects, db.AllVersionsOf(projectID), db.Decode[File], func(f File) {
		bytes += f.Size
		if expiresAt == 0 || f.ExpiresAt < expiresAt {
			expiresAt = f.ExpiresAt
		}
	}, "size")
	if err != nil {
		return err
	}
	counted := now()
	recountAt := counted.Add(maxRecount).Unix()
	if expiresAt > 0 {
		recountAt = max(min(expiresAt, recountAt), counted.Add(minRecount).Unix())
	}
	set := expression.Set(attrOldBytes, expression.Value(bytes)).Set(attrOldRecountAt, expression.Value(recountAt))
	if _, err := s.client.DoOnce(ctx, s.Projects.Update(key, set).
		If(s.Projects.Exists()).If(attrChanges.Equal(expression.Value(tree.Revision)))); err != nil {
		return err
	}
	return fmt.Errorf("%w: the old versions were counted", db.ErrStale)
}
