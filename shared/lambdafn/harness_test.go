package lambdafn_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
)

// log records the lines of a JSON log.
type log struct{ bytes.Buffer }

// lines returns the fields of each line.
func (l *log) lines(t *testing.T) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for line := range strings.Lines(l.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("the log line %s is not valid JSON: %v", line, err)
		}
		lines = append(lines, fields)
	}
	return lines
}

var discardLog = slog.New(slog.DiscardHandler)
