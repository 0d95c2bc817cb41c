package platform

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
)

// logFunctionLine logs one line of a function's output, after the function's name and the request's ID. A line in
// Lambda's JSON log format (time, level, msg, …) becomes a log line with the same level and attributes. The definition
// of metrics for CloudWatch (_aws) is left out.
func logFunctionLine(logger *slog.Logger, function, requestID, line string) {
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
		_ = level.UnmarshalText([]byte(name)) // an unknown level is logged as info
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
