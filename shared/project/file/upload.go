package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"devplatform/shared/clock"
	"devplatform/shared/contenttype"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/limit"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/content"
)

// An upload stores content directly in the bucket. The client announces it, sends the bytes to a presigned URL, and
// completes it. The announcement reserves the bytes in the quotas. The URL writes the object that the file will refer
// to, so nothing is copied.
//
// Each step can be interrupted. An upload that is never completed leaves an object without a record, which package
// cleanup removes. Its reservation is released by the first request that would exceed a quota after the URL has
// expired.
const (
	// uploadTime is the time for which the URL of an upload is valid, and for which its bytes are reserved.
	uploadTime = 15 * time.Minute
	// completionTime is the time after the announcement in which an upload can be completed: one hour more than the URL
	// is valid. The sweep of package cleanup removes an object without a record when it is 24 hours old. So an upload
	// cannot be completed at the time when its object is removed.
	completionTime = uploadTime + time.Hour
	// maxOpenUploads is the maximum number of open uploads of a project. An upload is open until it is completed or
	// released.
	maxOpenUploads = 100
	// settledTime is the time for which the record of a completed or released upload is kept. In this time, a completion
	// can be repeated.
	settledTime = 24 * time.Hour
)

// uploadStatus is the status of an upload. The values are part of the data format.
type uploadStatus string

const (
	uploadOpen      uploadStatus = "open"      // its bytes are reserved
	uploadReleased  uploadStatus = "released"  // it can be completed, but its bytes are no longer reserved
	uploadCompleted uploadStatus = "completed" // final
)

// upload is the record of an announced upload. The attribute names are part of the data format. None of them is an
// attribute of content.Ref: the record does not refer to the object, so it does not prevent the object's removal.
type upload struct {
	ID          string          `dynamodbav:"-"` // stored in the key
	Status      uploadStatus    `dynamodbav:"status"`
	Path        string          `dynamodbav:"path"`
	Size        int             `dynamodbav:"size"`
	SHA256      []byte          `dynamodbav:"sha256"`
	ContentType string          `dynamodbav:"contentType,omitempty"` // as the client set it
	ContentID   string          `dynamodbav:"contentId"`
	UserID      string          `dynamodbav:"userId"` // the user who announced it: its bytes count as written by this user
	AnnouncedAt clock.Timestamp `dynamodbav:"announcedAt"`
	Version     string          `dynamodbav:"version,omitempty"` // of the file, after the completion
	// ExpiresAt is when the record of a completed or released upload is removed, in seconds since 1970. It is 0 for an
	// open upload, because the record is needed to release its bytes.
	ExpiresAt int64 `dynamodbav:"expiresAt,omitempty"`
}

// isOpen and isCompleted return false for nil.
func (u *upload) isOpen() bool      { return u != nil && u.Status == uploadOpen }
func (u *upload) isCompleted() bool { return u != nil && u.Status == uploadCompleted }

// urlExpiresAt returns the time at which the URL and the reservation expire.
func (u *upload) urlExpiresAt() time.Time { return u.AnnouncedAt.Time().Add(uploadTime) }

// toContent returns the uploaded content.
func (u *upload) toContent(encoding Encoding) *packedContent {
	return &packedContent{
		contentID: u.ContentID, encoding: encoding, contentType: u.ContentType, size: u.Size, sha256: u.SHA256,
		format: content.Raw, isStored: true,
	}
}

// releaseExpired is the step of makeRoom for uploads. It returns db.ErrStale if it has released expired uploads, or if
// the open uploads have changed since tree was read. Otherwise, it returns err. It adds to errTooManyUploads when the
// next upload expires.
func (s *Service) releaseExpired(ctx context.Context, projectID string, tree Tree, err error) error {
	open, readErr := s.store.openUploads(ctx, projectID)
	if readErr != nil {
		return readErr
	}
	now, untilNext := s.now(), uploadTime // untilNext is the time until the next upload expires
	var expired []upload
	for _, u := range open {
		if left := u.urlExpiresAt().Sub(now); left <= 0 {
			expired = append(expired, u)
		} else {
			untilNext = min(untilNext, left)
		}
	}
	switch {
	case len(expired) > 0:
		if err := s.store.release(ctx, projectID, expired, now); err != nil {
			return err
		}
		return fmt.Errorf("%w: %d expired uploads were released", db.ErrStale, len(expired))
	case len(open) != tree.Uploads: // another request has changed them after the tree was read
		return fmt.Errorf("%w: the open uploads have changed", db.ErrStale)
	case errors.Is(err, errTooManyUploads):
		return limit.Status{Reset: untilNext}.WithRetryAfter(errTooManyUploads)
	}
	return err
}

// decodeUpload decodes the record of an upload. Error: UPLOAD_NOT_FOUND if item is nil.
func decodeUpload(uploadID string, item db.Item) (*upload, error) {
	if item == nil {
		return nil, errUploadNotFound
	}
	u, err := db.Decode[upload](item)
	u.ID = uploadID
	if err == nil && !id.Upload.Valid(uploadID) {
		err = fmt.Errorf("file: the ID of a stored upload is not valid: %q", uploadID)
	}
	return &u, err
}

// readUpload returns the content that a client has sent to the URL of an upload. S3 has compared its size and its hash
// with the announced ones. Content that clients receive in JSON is text if it is UTF-8. Larger content is not read: it
// is text if its media type says so. Errors: CONFLICT if there is no such object; db.ErrUnavailable.
func (s store) readUpload(ctx context.Context, projectID string, u *upload) (*packedContent, error) {
	packed := u.toContent(Base64)
	key := packed.ref().ObjectKey(projectID)
	var size int
	var isText bool
	var err error
	if u.Size > content.MaxBytes {
		size, err = s.bucket.Size(ctx, key)
		isText = strings.HasPrefix(cmp.Or(u.ContentType, contenttype.Of(u.Path, false)), "text/")
	} else {
		var data []byte
		data, err = s.bucket.Get(ctx, key)
		size, isText = len(data), utf8.Valid(data)
	}
	if isText {
		packed.encoding = UTF8
	}
	if errors.Is(err, objectstore.ErrNotFound) || err == nil && size != u.Size {
		return nil, errNotUploaded
	}
	return packed, storageError(err)
}
