// Package export makes zip archives of the files of projects. Clients start an export, ask for its state, and download
// the archive from the bucket.
//
// An export that is running has a job of the kind Kind. Package archive has its record.
package export

import (
	"crypto/sha256"
	"fmt"

	"devplatform/shared/fault"
	"devplatform/shared/id"
)

// contentType is the content type of an archive.
const contentType = "application/zip"

// Kind is the kind of the jobs that make exports.
const Kind = "export"

// DefaultHourlyLimit is the number of exports that a user can start in one hour.
const DefaultHourlyLimit = 10

var errNotFound = fault.New(fault.CodeExportNotFound,
	"The export does not exist or has expired. Start a new export of the project.")

// exportID returns the ID of the export of a project's files in the state that revision identifies (see file.Tree). So
// each state of the files has one export.
func exportID(projectID string, revision int) string {
	created, _ := id.Project.Time(projectID)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", projectID, revision))
	return id.Export.From(created, [10]byte(sum[:10]))
}
