package file

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// The attributes of an upload that transactions change.
var (
	attrStatus    = expression.Name("status")
	attrExpiresAt = expression.Name(db.AttrExpiresAt)
)

// announce stores the record of an open upload, and reserves its bytes. Call it within db.Retry.
// Errors: PROJECT_NOT_FOUND if the project was deleted; QUOTA_EXCEEDED if the user has written too much on this day;
// db.ErrStale if the project no longer has room.
func (s store) announce(ctx context.Context, projectID string, u upload) error {
	reserve := expression.Add(attrBytes, expression.Value(u.Size)).Add(attrUploads, expression.Value(1))
	hasRoom := s.Projects.Exists().
		And(attrBytes.LessThanEqual(expression.Value(s.quotas.Bytes - u.Size))).
		And(attrUploads.AttributeNotExists().Or(attrUploads.LessThan(expression.Value(maxOpenUploads))))
	tx := s.client.Tx(
		s.Projects.Update(db.TreeKey(projectID), reserve).If(hasRoom).ElseFunc(workspace.ChangeError),
		s.Projects.Create(db.UploadKey(projectID, u.ID), u),
	)
	if u.Size > 0 {
		tx.Add(s.countWritten(u.UserID, u.AnnouncedAt.Time(), u.Size))
	}
	return tx.CommitOnce(ctx)
}

// openUploads returns the open uploads of a project. It omits damaged records: they must not prevent the release of
// other uploads.
func (s store) openUploads(ctx context.Context, projectID string) ([]upload, error) {
	prefix := db.UploadsOf(projectID)
	decode := func(item db.Item) (*upload, error) { return decodeUpload(prefix.Rest(db.KeyOf(item)), item) }
	var open []upload
	err := db.EachRecord(ctx, s.Projects, prefix, decode, func(u *upload) {
		if u.isOpen() {
			open = append(open, *u)
		}
	})
	return open, err
}

// maxReleases is the maximum number of uploads that one transaction releases. The transaction has one more write, for
// the tree.
const maxReleases = 99

// release takes back the bytes of a project that uploads have reserved. The uploads can still be completed, if the
// project has room for them. The bytes stay counted as written by the user: S3 may have received them, or be receiving
// them. Errors: PROJECT_NOT_FOUND; db.ErrStale if another request has completed or released an upload.
func (s store) release(ctx context.Context, projectID string, uploads []upload, at time.Time) error {
	for batch := range slices.Chunk(uploads, maxReleases) {
		bytes := 0
		for _, u := range batch {
			bytes += u.Size
		}
		free := expression.Add(attrBytes, expression.Value(-bytes)).Add(attrUploads, expression.Value(-len(batch)))
		tx := s.client.Tx(
			s.Projects.Update(db.TreeKey(projectID), free).If(s.Projects.Exists()).ElseFunc(workspace.ChangeError),
		)
		for _, u := range batch {
			tx.Add(s.settleWrite(projectID, &u, uploadReleased, "", at))
		}
		if err := tx.CommitOnce(ctx); err != nil {
			return err
		}
	}
	return nil
}

// settleWrite returns the write that completes or releases an upload. The write fails if the upload no longer has the
// status that was read. The record expires after settledTime.
func (s store) settleWrite(projectID string, u *upload, status uploadStatus, version string, at time.Time) db.Write {
	update := expression.Set(attrStatus, expression.Value(status)).
		Set(attrExpiresAt, expression.Value(at.Add(settledTime).Unix()))
	if version != "" {
		update = update.Set(expression.Name("version"), expression.Value(version))
	}
	return s.Projects.Update(db.UploadKey(projectID, u.ID), update).If(attrStatus.Equal(expression.Value(u.Status)))
}
