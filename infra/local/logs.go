package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"sort"

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

// functionLine logs one line of a function's output under the function's name and request id.
// A line in Lambda's JSON log format (time, level, msg, …) is shown as a log line of ours, any other as it is.
func functionLine(logger *slog.Logger, function, requestID, line string) {
	attrs := []any{slog.String("function", function)}
	if requestID != "" {
		attrs = append(attrs, slog.String("requestId", requestID))
	}
	var record map[string]any
	if json.Unmarshal([]byte(line), &record) != nil {
		logger.Info(line, attrs...)
		return
	}
	message, ok := record["msg"].(string)
	if !ok {
		logger.Info(line, attrs...)
		return
	}
	var level slog.Level
	if name, ok := record["level"].(string); ok {
		_ = level.UnmarshalText([]byte(name)) // an unknown level is shown as info
	}
	for _, known := range []string{"time", "msg", "level", "requestId", "function"} {
		delete(record, known)
	}
	names := make([]string, 0, len(record))
	for name := range record {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		attrs = append(attrs, slog.Any(name, record[name]))
	}
	logger.Log(context.Background(), level, message, attrs...)
}
