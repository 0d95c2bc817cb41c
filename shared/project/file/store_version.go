package file

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// versions returns up to limit replaced versions of the file at a path, newest first. It starts after a position in the
// history.
func (s store) versions(ctx context.Context, projectID, path, position string, limit int) ([]File, error) {
	prefix := db.VersionsOf(projectID, pathHash(path))
	q := db.Query{Prefix: prefix, After: prefix.After(position), Limit: limit, Descending: true}
	files, _, err := db.List(ctx, s.Projects, q, db.DecodeByID(func(f File) string { return f.Version }))
	return files, err
}

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

// countOld returns the total size of a project's old versions that have not expired, and the time at which the first of
// them expires, in seconds since 1970. The time is 0 if there are none. It makes one call per MB of records.
func (s store) countOld(ctx context.Context, projectID string) (bytes int, expiresAt int64, err error) {
	err = db.EachRecord(ctx, s.Projects, db.AllVersionsOf(projectID), db.Decode[File], func(f File) {
		bytes += f.Size
		if expiresAt == 0 || f.ExpiresAt < expiresAt {
			expiresAt = f.ExpiresAt
		}
	}, "size")
	return bytes, expiresAt, err
}

// postponeRecount changes the time from which the old versions may be counted again. Error: db.ErrStale if another
// request has changed it after tree was read.
func (s store) postponeRecount(ctx context.Context, projectID string, tree Tree, recountAt int64) error {
	_, err := s.client.DoOnce(ctx, s.Projects.Update(db.TreeKey(projectID),
		expression.Set(attrOldRecountAt, expression.Value(recountAt))).
		If(attrOldRecountAt.Equal(expression.Value(tree.OldRecountAt))))
	return err
}

// setOldBytes stores the result of a recount, if no file or version has changed since tree was read.
// Error: db.ErrStale.
func (s store) setOldBytes(ctx context.Context, projectID string, tree Tree, bytes int, recountAt int64) error {
	set := expression.Set(attrOldBytes, expression.Value(bytes)).
		Set(attrOldRecountAt, expression.Value(recountAt))
	unchanged := attrChanges.Equal(expression.Value(tree.Changes))
	_, err := s.client.DoOnce(ctx, s.Projects.Update(db.TreeKey(projectID), set).If(s.Projects.Exists()).If(unchanged))
	return err
}
