package process

import (
	"bytes"
	"strings"
	"sync"
)

// Log is a buffer that a process writes to while the caller reads it.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns the text that was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// Tail returns the end of the text: at most n bytes, after an ellipsis if the text is longer.
func (l *Log) Tail(n int) string { return tail(l.String(), n) }

// Warnings returns the lines of the platform that are warnings or errors, at most the last n bytes of them.
func (l *Log) Warnings(n int) string {
	var warnings strings.Builder
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, " WRN ") || strings.Contains(line, " ERR ") {
			warnings.WriteString(line)
		}
	}
	return tail(warnings.String(), n)
}

func tail(s string, n int) string {
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}
