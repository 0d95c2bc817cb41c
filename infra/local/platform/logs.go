package platform

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lineOptions accept a name that occurs twice, because slog does not replace an attribute with the same name.
var lineOptions = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// functionLines returns the function that logs the output of functions. Functions with a schedule are quiet, so that an
// idle platform logs nothing.
func (p *Platform) functionLines() func(function, line string) {
	scheduled := map[string]bool{}
	for _, s := range p.Stack.Schedules {
		scheduled[s.Function] = true
	}
	return func(function, line string) { logFunctionLine(p.logger, function, line, scheduled[function]) }
}

// logFunctionLine logs one line of a function's output, after the function's name. A line in Lambda's JSON log format
// (time, level, msg, requestId, …) becomes a log line with the same level and attributes. The definition of metrics for
// CloudWatch (_aws) is left out. If isQuiet is set, and for lines about requests, which the gateway logs too, the level
// info becomes debug.
func logFunctionLine(logger *slog.Logger, function, line string, isQuiet bool) {
	var head struct {
		RequestID string         `json:"requestId"`
		Msg       *string        `json:"msg"`
		Level     any            `json:"level"`
		Method    jsontext.Value `json:"method"`
		Status    jsontext.Value `json:"status"`
	}
	if json.Unmarshal([]byte(line), &head, lineOptions) != nil || head.Msg == nil {
		logger.Info(function + ": " + line)
		return
	}
	var level slog.Level
	if name, ok := head.Level.(string); ok {
		_ = level.UnmarshalText([]byte(name)) // an unknown level is logged as info
	}
	if level == slog.LevelInfo && (isQuiet || head.Method != nil && head.Status != nil) {
		level = slog.LevelDebug
	}
	ctx := context.Background()
	if !logger.Enabled(ctx, level) {
		return // before all attributes are decoded
	}
	var record map[string]any
	_ = json.Unmarshal([]byte(line), &record, lineOptions) // cannot fail: the line was decoded above
	for _, omitted := range []string{"time", "msg", "level", "requestId", "_aws"} {
		delete(record, omitted)
	}
	attrs := make([]slog.Attr, 0, len(record))
	for _, name := range slices.Sorted(maps.Keys(record)) {
		attrs = append(attrs, slog.Any(name, record[name]))
	}
	if head.RequestID != "" {
		function += " " + head.RequestID
	}
	logger.LogAttrs(ctx, level, function+": "+*head.Msg, attrs...)
}
