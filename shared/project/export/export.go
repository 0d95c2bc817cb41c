// Package export makes zip archives of the files of projects. Clients start an export, ask for its state, and download
// the archive from the bucket.
//
// Calls run in one direction: handlers (http.go) call the Service (service.go). The Worker (worker.go) writes the
// archive (archive.go). Both use the store.
//
// An export that is running has a job of the kind Kind (package job). Each attempt writes the archive to a temporary
// file and uploads it under a key of its own. The transaction that makes the export ready stores this key, on the
// condition that the worker holds the lease of the job. So a worker that is interrupted or loses its lease changes
// nothing, and the next attempt begins again. The bucket removes all archives after the same time.
package export

import (
	"crypto/sha256"
	"fmt"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/project/content"
)

const (
	// timeToFinish is the time after which an export that is not ready has failed.
	timeToFinish = 15 * time.Minute
	// lifetime is the time for which an export can be downloaded. The bucket removes the archive at the first midnight
	// that is at least a day after its upload, and the upload is after the start of the export. So the object exists as
	// long as the record and its URLs.
	lifetime = 24*time.Hour - urlValid
	// urlValid is the time for which the URL of an archive is valid.
	urlValid = 5 * time.Minute
	// contentType is the content type of an archive.
	contentType = "application/zip"
)

// Kind is the kind of the jobs that make exports.
const Kind = "export"

// DefaultHourlyLimit is the number of exports that a user can start in one hour.
const DefaultHourlyLimit = 10

var errNotFound = fault.New(fault.CodeExportNotFound,
	"The export does not exist or has expired. Start a new export of the project.")

// Status is the state of an export.
type Status string

// The states of an export.
const (
	Running Status = "running"
	Ready   Status = "ready"
	Failed  Status = "failed"
)

// record is an export as it is stored. The attribute names are part of the data format.
type record struct {
	ID        string          `dynamodbav:"id"`
	Status    Status          `dynamodbav:"status"`
	StartedAt clock.Timestamp `dynamodbav:"startedAt"`
	Archive   string          `dynamodbav:"archive,omitempty"` // the key of the archive, if it is ready
	Size      int             `dynamodbav:"size"`              // of the archive, if it is ready
	ExpiresAt int64           `dynamodbav:"expiresAt"`
}

// statusAt returns the status at a time. A running export whose time is over has failed.
func (r record) statusAt(now time.Time) Status {
	if r.Status == Running && now.Sub(r.StartedAt.Time()) >= timeToFinish {
		return Failed
	}
	return r.Status
}

// exportID returns the ID of the export of a project's files in the state that changes identifies (see file.Tree). So
// each state of the files has one export.
func exportID(projectID string, changes int) string {
	created, _ := id.Project.Time(projectID)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", projectID, changes))
	return id.Export.From(created, [10]byte(sum[:10]))
}

// archiveKey returns the key of the archive of an attempt: exports/<project ID>/<export ID>/<lease>.
func archiveKey(j job.Job) string { return content.ProjectArchives(j.ProjectID) + j.ID + "/" + j.Lease }
