package deployment

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/excerpt"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/objectstore"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

func (s *Service) registerOutput(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "readDeploymentLog", Method: http.MethodGet, Path: deploymentPath + "/log", Tag: tag,
		Summary: "Read the log of a deployment",
		Description: "Oldest line first. A log has at most 500 lines and 100 KiB: of a longer one, the first lines are " +
			"left out. If a build is interrupted and repeated, the new lines replace the old ones. Requires membership in " +
			"the workspace.",
		Errors: []*fault.Error{workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied},
	}, s.readLog)
	httpapi.Private(r, httpapi.Operation{
		ID: "listDeploymentFiles", Method: http.MethodGet, Path: deploymentPath + "/files", Tag: tag,
		Summary:     "List the files of the output",
		Description: "In path order. A deployment that is not ready has no files. Requires membership in the workspace.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied},
	}, s.listFiles)
}

type deploymentPageInput struct {
	Ref
	httpapi.PageInput
}

type logOutput struct {
	Body struct {
		Lines      []LogLine `json:"lines" nullable:"false" doc:"The lines, oldest first"`
		NextCursor string    `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page"`
	}
}

// readLog returns a page of the log of a deployment, oldest line first.
func (s *Service) readLog(
	ctx context.Context, caller httpapi.Caller, in *deploymentPageInput,
) (out *logOutput, err error) {
	scope := httpapi.ListScope(caller, "deployment-log", in.ProjectID, in.DeploymentID)
	read := func(ctx context.Context, after string, n int) ([]LogLine, error) {
		key := db.DeploymentLogKey(in.ProjectID, in.DeploymentID)
		c, err := s.open(ctx, caller, in.ProjectID, in.DeploymentID, workspace.Read, key)
		if err != nil {
			return nil, err
		}
		log, err := db.Decode[logRecord](c.Items[key])
		lines := append(append([]LogLine{}, log.Notices...), log.Lines...)
		for i := range lines {
			lines[i].number = i + 1
		}
		first, _ := strconv.Atoi(after) // 0 for the first page
		first = min(first, len(lines))
		return lines[first:min(len(lines), first+n)], err
	}
	out = &logOutput{}
	out.Body.Lines, out.Body.NextCursor, err = httpapi.ReadPage(ctx, s.Cursors, scope, in.PageInput, read,
		func(l LogLine) string { return strconv.Itoa(l.number) })
	return out, err
}

// DeploymentFile is a file of the output of a deployment as clients see it.
type DeploymentFile struct {
	Path        string `json:"path" doc:"The path of the file" example:"/index.html"`
	Size        int    `json:"size" doc:"The size in bytes" example:"482"`
	SHA256      string `json:"sha256" doc:"The SHA-256 of the content in hexadecimal" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	ContentType string `json:"contentType" doc:"The content type" example:"text/html; charset=utf-8"`
}

type filesOutput struct {
	Body struct {
		Files      []DeploymentFile `json:"files" nullable:"false" doc:"The files, in path order"`
		NextCursor string           `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page"`
	}
}

// listFiles returns a page of the files of the output of a deployment, in path order. A deployment that is not ready
// has no files.
func (s *Service) listFiles(
	ctx context.Context, caller httpapi.Caller, in *deploymentPageInput,
) (out *filesOutput, err error) {
	scope := httpapi.ListScope(caller, "deployment-files", in.ProjectID, in.DeploymentID)
	read := func(ctx context.Context, after string, n int) ([]DeploymentFile, error) {
		c, err := s.open(ctx, caller, in.ProjectID, in.DeploymentID, workspace.Read)
		if err != nil || c.deployment.Status != Ready {
			return []DeploymentFile{}, err
		}
		data, err := s.Bucket.Get(ctx, site.ManifestKey(c.deployment.ID, c.deployment.Manifest))
		switch {
		case errors.Is(err, objectstore.ErrNotFound): // the deployment was removed meanwhile
			return nil, errNotFound.WithCause(err)
		case errors.Is(err, objectstore.ErrUnavailable):
			return nil, fault.ErrUnavailable.WithCause(err)
		case err != nil:
			return nil, err
		}
		var m site.Manifest
		if err := json.Unmarshal(data, &m); err != nil {
			return nil, err
		}
		items := []DeploymentFile{}
		for _, path := range slices.Sorted(maps.Keys(m.Files)) {
			if path > after && len(items) < n {
				f := m.Files[path]
				items = append(items, DeploymentFile{
					Path: path, Size: f.Size, SHA256: hex.EncodeToString(f.SHA256[:]), ContentType: f.ContentType,
				})
			}
		}
		return items, nil
	}
	out = &filesOutput{}
	out.Body.Files, out.Body.NextCursor, err = httpapi.ReadPage(ctx, s.Cursors, scope, in.PageInput, read,
		func(f DeploymentFile) string { return f.Path })
	return out, err
}

// Level is the importance of a line of a log.
type Level string

// The levels.
const (
	Info    Level = "info"
	Warning Level = "warning"
	Error   Level = "error"
)

// LogLine is a line of the log of a deployment.
type LogLine struct {
	At    clock.Timestamp `json:"at" dynamodbav:"at" doc:"The time of the line" example:"2026-01-31T08:15:30.123Z"`
	Level Level           `json:"level" dynamodbav:"level" enum:"info,warning,error" doc:"The importance of the line" example:"info"`
	Text  string          `json:"text" dynamodbav:"text" doc:"What happened, for people" example:"Built 12 files."`
	Path  string          `json:"path,omitzero" dynamodbav:"path,omitempty" doc:"The path of the file that the line is about" example:"/src/app.tsx"`
	Line  int             `json:"line,omitzero" dynamodbav:"line,omitempty" doc:"The line of the file, counted from 1" example:"12"`

	number int // of the line in the log, counted from 1, for the cursor
}

const (
	// maxLines and maxLogBytes limit the lines that a worker stores. If a log is longer, only its end is stored.
	// With the notices, and the line about omitted lines, a log has at most 500 lines and 100 KiB.
	maxLines    = 498
	maxLogBytes = 99 << 10
	// maxText is the maximum number of bytes of the text of a line, and of the message of an error.
	maxText = 4 << 10
	// maxPath is the maximum number of bytes of a path in a log or an error. A compiler in a package can report any path.
	maxPath = 2 << 10
	// lineOverhead is the size of the attributes of a line other than its text and path.
	lineOverhead = 50
)

// logRecord is the log of a deployment, in the projects table under db.DeploymentLogKey.
type logRecord struct {
	Notices []LogLine `dynamodbav:"notices,omitempty"` // of the request
	Lines   []LogLine `dynamodbav:"lines,omitempty"`   // of the latest attempt to build that stored any
}

// fitLog returns the last lines that fit into a log, after a line that says how many are left out. It shortens long
// lines and paths.
func fitLog(lines []LogLine) []LogLine {
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i].Text, lines[i].Path = excerpt.Start(lines[i].Text, maxText), excerpt.Start(lines[i].Path, maxPath)
	}
	first, size := len(lines), 0
	for ; first > 0 && len(lines)-first < maxLines; first-- {
		if size += len(lines[first-1].Text) + len(lines[first-1].Path) + lineOverhead; size > maxLogBytes {
			break
		}
	}
	if first == 0 {
		return lines
	}
	text := fmt.Sprintf("The log is too long. Its first %d lines are left out.", first)
	return append([]LogLine{{At: lines[0].At, Level: Warning, Text: text}}, lines[first:]...)
}
