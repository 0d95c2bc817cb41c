package platform

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
)

// functionLines returns the function that logs the output of functions. Functions with a schedule are quiet, so that an
// idle platform logs nothing.
func (p *Platform) functionLines() func(function, requestID, line string) {
	scheduled := map[string]bool{}
	for _, s := range p.Stack.Schedules {
		scheduled[s.Function] = true
	}
	return func(function, requestID, line string) {
		logFunctionLine(p.logger, function, requestID, line, scheduled[function])
	}
}

// logFunctionLine logs one line of a function's output, after the function's name and the request's ID. A line in
// Lambda's JSON log format (time, level, msg, …) becomes a log line with the same level and attributes. The definition of
// metrics for CloudWatch (_aws) is left out. If isQuiet is set, and for lines about requests, which the gateway logs too,
// the level info becomes debug.
func logFunctionLine(logger *slog.Logger, function, requestID, line string, isQuiet bool) {
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
	_, hasMethod := record["method"]
	_, hasStatus := record["status"]
	if level == slog.LevelInfo && (isQuiet || hasMethod && hasStatus) {
		level = slog.LevelDebug
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
