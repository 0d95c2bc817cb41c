package deployment

import (
	"fmt"
	"slices"

	"devplatform/shared/clock"
	"devplatform/shared/excerpt"
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
