package deployment

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/excerpt"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

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
	// maxPath is the maximum number of bytes of a path in a log or an error. A compiler in a package chooses some.
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

// privateNotice returns the first line of the log of a deployment of a private project.
func privateNotice(at clock.Timestamp) LogLine {
	return LogLine{At: at, Level: Warning, Text: "The project is private. Deploying publishes it: " +
		"everyone who knows the address of the deployment can open it."}
}

// ReadLog returns a page of the log of a deployment, oldest line first, and the cursor of the next page. Errors:
// PROJECT_NOT_FOUND, ACCESS_DENIED, DEPLOYMENT_NOT_FOUND; VALIDATION_FAILED if the cursor is not from this list.
func (s *Service) ReadLog(
	ctx context.Context, caller httpapi.Caller, projectID, deploymentID string, page httpapi.PageInput,
) ([]LogLine, string, error) {
	scope := httpapi.ListScope(caller, "deployment-log", projectID, deploymentID)
	read := func(ctx context.Context, after string, n int) ([]LogLine, error) {
		key := db.DeploymentLogKey(projectID, deploymentID)
		p, err := s.open(ctx, caller, projectID, deploymentID, workspace.Read, key)
		if err != nil {
			return nil, err
		}
		log, err := db.Decode[logRecord](p.Items[key])
		lines := append(append([]LogLine{}, log.Notices...), log.Lines...)
		for i := range lines {
			lines[i].number = i + 1
		}
		first, _ := strconv.Atoi(after) // 0 for the first page
		first = min(first, len(lines))
		return lines[first:min(len(lines), first+n)], err
	}
	return httpapi.ReadPage(ctx, s.cursors, scope, page, read,
		func(l LogLine) string { return strconv.Itoa(l.number) })
}
