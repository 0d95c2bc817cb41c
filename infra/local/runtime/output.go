package runtime

import (
	"bytes"
	"strings"
)

// maxLine is the maximum number of bytes of a log line in CloudWatch. Longer lines are split.
const maxLine = 256 << 10

// lineWriter passes the output of a process on as lines.
type lineWriter struct {
	emit    func(line string)
	partial []byte
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.partial = append(w.partial, p...)
	rest := w.partial
	for {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 && len(rest) < maxLine {
			break
		}
		if end < 0 || end > maxLine {
			w.emitLine(rest[:maxLine])
			rest = rest[maxLine:]
			continue
		}
		w.emitLine(rest[:end])
		rest = rest[end+1:]
	}
	w.partial = append(w.partial[:0], rest...)
	return len(p), nil
}

// close emits a last line without a line end.
func (w *lineWriter) close() {
	if len(w.partial) > 0 {
		w.emitLine(w.partial)
	}
}

func (w *lineWriter) emitLine(line []byte) { w.emit(strings.TrimSuffix(string(line), "\r")) }
