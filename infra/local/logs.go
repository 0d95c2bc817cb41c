package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"

	"github.com/lmittmann/tint"
	"golang.org/x/term"
)

// newLogger writes readable lines: coloured on a terminal, plain elsewhere and where NO_COLOR is set.
func newLogger(w io.Writer) *slog.Logger {
	return slog.New(tint.NewTextHandler(w, &tint.Options{
		Level:      slog.LevelInfo,
		TimeFormat: "15:04:05.000",
		NoColor:    !isTerminal(w) || os.Getenv("NO_COLOR") != "",
	}))
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// functionLine logs one line of a function's output behind the function's name and the request's id.
// A line in Lambda's JSON log format (time, level, msg, …) is shown as a log line of ours, any other as it is. What tells
// CloudWatch which members are metrics (_aws) is left out; the metrics are shown.
func functionLine(logger *slog.Logger, function, requestID, line string) {
	prefix := function + " " + requestID + ": "
	if requestID == "" {
		prefix = function + ": "
	}
	var record map[string]any
	message, structured := "", json.Unmarshal([]byte(line), &record) == nil
	if structured {
		message, structured = record["msg"].(string)
	}
	if !structured {
		logger.Info(prefix + line)
		return
	}
	var level slog.Level
	if name, ok := record["level"].(string); ok {
		_ = level.UnmarshalText([]byte(name)) // an unknown level is shown as info
	}
	for _, shown := range []string{"time", "msg", "level", "requestId", "_aws"} {
		delete(record, shown)
	}
	attrs := make([]slog.Attr, 0, len(record))
	for _, name := range slices.Sorted(maps.Keys(record)) {
		attrs = append(attrs, slog.Any(name, record[name]))
	}
	logger.LogAttrs(context.Background(), level, prefix+message, attrs...)
}
