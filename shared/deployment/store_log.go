package deployment

import (
	"context"
	"errors"
	"unicode/utf8"

	"devplatform/shared/clock"
	"devplatform/shared/db"
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
}

func (l LogLine) size() int { return len(l.Text) + len(l.Path) + lineOverhead }

const (
	// maxLines and maxLogBytes are the largest size of a log. Of longer logs, only the beginning is stored.
	maxLines    = 500
	maxLogBytes = 100 << 10
	// maxText is the largest number of bytes of the text of a line.
	maxText = 4 << 10
	// lineOverhead is the size of the attributes of a line other than its text and path.
	lineOverhead = 50
)

// logRecord is the log of a deployment, in the projects table under db.DeploymentLogKey.
type logRecord struct {
	Lines []LogLine `dynamodbav:"lines"`
}

// cut returns the lines that fit into a log after the first n lines.
func cut(log []LogLine, n int) []LogLine {
	size := 0
	for i, line := range log {
		if size += line.size(); i >= maxLines || (size > maxLogBytes && i >= n) {
			return log[n:max(i, n)]
		}
	}
	return log[n:]
}

// AppendLog appends lines to the log of a deployment, if the worker with d holds the lease. It shortens long lines, and
// omits lines that do not fit into the log. Error: ErrLost.
func (s Store) AppendLog(ctx context.Context, d Deployment, lines ...LogLine) error {
	if len(lines) == 0 {
		return nil
	}
	key := db.DeploymentLogKey(d.ProjectID, d.ID)
	return db.Retry(ctx, "append to a log", func() error {
		item, err := s.Projects.Get(ctx, key)
		if err != nil && !errors.Is(err, db.ErrNotFound) {
			return err
		}
		log, err := db.Decode[logRecord](item)
		if err != nil {
			return err
		}
		n := len(log.Lines)
		for _, line := range lines {
			line.Text = shorten(line.Text, maxText)
			log.Lines = append(log.Lines, line)
		}
		log.Lines = append(log.Lines[:n:n], cut(log.Lines, n)...)
		if item, err = db.Encode(log); err != nil {
			return err
		}
		return lost(s.DB.TransactOnce(ctx,
			s.Projects.Check(db.DeploymentKey(d.ProjectID, d.ID), equals("status", Building).And(equals("lease", d.Lease))),
			s.Projects.Put(key, item)))
	})
}

// shorten returns the beginning of a text, with at most n bytes of whole characters.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// privateLine is the first line of the log of a deployment of a private project.
func privateLine(at clock.Timestamp) LogLine {
	return LogLine{At: at, Level: Warning, Text: "The project is private. Deploying publishes it: " +
		"everyone who knows the address of the deployment can open it."}
}

// firstLines returns the write that stores the log of a new deployment.
func (s Store) firstLines(projectID, deploymentID string, lines ...LogLine) (db.Write, error) {
	item, err := db.Encode(logRecord{lines})
	return s.Projects.Put(db.DeploymentLogKey(projectID, deploymentID), item), err
}
