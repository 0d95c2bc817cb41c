// Package archive contains the parts that all exports share: their records, their states, and the object that clients
// download. Package project/export makes the archives of projects, account/export the documents about accounts.
//
// An export that is running has a job (package job). Each attempt writes a temporary file and uploads it under a key of
// its own. The transaction that makes the export ready stores this key, on the condition that the worker holds the
// lease of the job. So a worker that is interrupted or loses its lease changes nothing, and the next attempt begins
// again. The bucket removes the objects of all exports after the same time.
package archive

import (
	"context"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/objectstore"
)

const (
	// timeToFinish is the time after which an export that is not ready has failed.
	timeToFinish = 15 * time.Minute
	// lifetime is the time for which an export can be downloaded. The bucket removes the object at the first midnight
	// that is at least a day after its upload, and the upload is after the start of the export. So the object exists as
	// long as the record and its URLs.
	lifetime = 24*time.Hour - urlValid
	// urlValid is the time for which the URL of an object is valid.
	urlValid = 5 * time.Minute
)

// Status is the state of an export.
type Status string

// The states of an export.
const (
	Running Status = "running"
	Ready   Status = "ready"
	Failed  Status = "failed"
)

// Record is an export as it is stored. The attribute names are part of the data format.
type Record struct {
	ID        string          `dynamodbav:"id"`
	Status    Status          `dynamodbav:"status"`
	StartedAt clock.Timestamp `dynamodbav:"startedAt"`
	Key       string          `dynamodbav:"archive,omitempty"` // of the object, if it is ready
	Size      int             `dynamodbav:"size"`              // of the object, if it is ready
	ExpiresAt int64           `dynamodbav:"expiresAt"`
}

// NewRecord returns a running export.
func NewRecord(exportID string, now time.Time) Record {
	return Record{ID: exportID, Status: Running, StartedAt: clock.Stamp(now), ExpiresAt: now.Add(lifetime).Unix()}
}

// StatusAt returns the status at a time. A running export whose time is over has failed.
func (r Record) StatusAt(now time.Time) Status {
	if r.Status == Running && now.Sub(r.StartedAt.Time()) >= timeToFinish {
		return Failed
	}
	return r.Status
}

// Ref returns the export as clients see it when it was started.
func (r Record) Ref() ExportRef { return ExportRef{ID: r.ID, Status: r.Status} }

// Item returns the export as clients see it, with a URL if it is ready. contentType and filename are the content type
// and the name of the file that clients download. Errors: the errors of objectstore.Bucket.PresignGet.
func (r Record) Item(
	ctx context.Context, bucket objectstore.Bucket, filename, contentType string, now time.Time,
) (ExportItem, error) {
	item := ExportItem{ID: r.ID, Status: r.StatusAt(now), Size: r.Size}
	if item.Status != Ready {
		return item, nil
	}
	var err error
	download := objectstore.Download{Key: r.Key, Filename: filename, ContentType: contentType}
	item.URL, err = bucket.PresignGet(ctx, download, urlValid)
	return item, err
}

// ExportRef is an export that was started, as clients see it.
type ExportRef struct {
	ID     string `json:"id" doc:"The export's ID" example:"exp_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Status Status `json:"status" enum:"running,ready" doc:"The state of the export" example:"running"`
}

// ExportItem is an export as clients see it.
type ExportItem struct {
	ID     string `json:"id" doc:"The export's ID" example:"exp_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Status Status `json:"status" enum:"running,ready,failed" doc:"The state of the export. An export that is not ready after 15 minutes has failed" example:"ready"`
	URL    string `json:"url,omitzero" doc:"The URL of the archive, if it is ready. It needs no session, is valid for 5 minutes, and delivers an attachment" example:"https://bucket.s3.eu-central-1.amazonaws.com/exports/prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK/exp_01K9ZQ3V7M8T5XW2ABCDEFGHJK?X-Amz-Signature=0123456789abcdef"`
	Size   int    `json:"size,omitzero" doc:"The size of the archive in bytes, if it is ready" example:"48213"`
}

// Objects returns the prefix of the keys of the objects of all exports of a project or a user. It returns "" if the ID
// is not valid.
func Objects(ownerID string) string {
	if !id.Project.Valid(ownerID) && !id.User.Valid(ownerID) {
		return ""
	}
	return "exports/" + ownerID + "/"
}

// objectKey returns the key of the object of an attempt: exports/<owner's ID>/<export ID>/<lease>.
func objectKey(j job.Job) string { return Objects(j.OwnerID) + j.ID + "/" + j.Lease }
