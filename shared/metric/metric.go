// Package metric sends metrics to CloudWatch through the log, in the embedded metric format. To send a
// metric, it writes a log line and makes no API call.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
package metric

import (
	"context"
	"log/slog"
	"math"
	"slices"

	"devplatform/shared/clock"
)

// Unit is the unit of a metric's values.
type Unit string

// The units in use. CloudWatch has more.
const (
	Count        Unit = "Count"
	Milliseconds Unit = "Milliseconds"
	Seconds      Unit = "Seconds"
)

// Value is a metric with the values measured since the last report. Its name must not be time, level or msg, because
// every log line has fields with these names.
type Value struct {
	Name   string
	Unit   Unit
	Values []float64
}

// Metrics logs the metrics of one namespace. It is safe for concurrent use.
type Metrics struct {
	logger    *slog.Logger
	namespace string
	now       clock.Clock
}

// New returns Metrics that use a logger whose lines are JSON objects. If namespace is empty, no metrics are logged.
func New(logger *slog.Logger, namespace string, now clock.Clock) *Metrics {
	return &Metrics{logger: logger, namespace: namespace, now: now}
}

// Limits of the embedded metric format for one log line.
const (
	maxMetrics = 100
	maxValues  = 100 // for each metric
)

// Put logs the values, without dimensions, in as few lines as possible. It leaves out values that are not finite, and
// metrics without values.
func (m *Metrics) Put(ctx context.Context, values ...Value) {
	if m.namespace == "" {
		return
	}
	all := make([]Value, 0, len(values))
	for _, v := range values {
		if v.Values = finite(v.Values); len(v.Values) > 0 {
			all = append(all, v)
		}
	}
	for metrics := range slices.Chunk(all, maxMetrics) {
		for len(metrics) > 0 {
			var line, rest []Value
			for _, v := range metrics {
				n := min(len(v.Values), maxValues)
				line = append(line, Value{v.Name, v.Unit, v.Values[:n]})
				if v.Values = v.Values[n:]; len(v.Values) > 0 {
					rest = append(rest, v)
				}
			}
			m.put(ctx, line)
			metrics = rest
		}
	}
}

// finite returns a copy of the values without NaN and infinities, which JSON cannot represent.
func finite(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// The part of a log line that makes CloudWatch extract metrics from it.
type (
	metadata struct {
		Timestamp int64       `json:"Timestamp"` // milliseconds since 1970
		Metrics   []directive `json:"CloudWatchMetrics"`
	}
	directive struct {
		Namespace  string       `json:"Namespace"`
		Dimensions [][]string   `json:"Dimensions"`
		Metrics    []definition `json:"Metrics"`
	}
	definition struct {
		Name string `json:"Name"`
		Unit Unit   `json:"Unit"`
	}
)

// put logs one line.
func (m *Metrics) put(ctx context.Context, values []Value) {
	// One empty set of dimensions makes CloudWatch keep one time series for each metric.
	d := directive{Namespace: m.namespace, Dimensions: [][]string{{}}}
	attrs := make([]slog.Attr, 1, len(values)+1)
	for _, v := range values {
		d.Metrics = append(d.Metrics, definition{v.Name, v.Unit})
		attrs = append(attrs, slog.Any(v.Name, v.Values))
	}
	attrs[0] = slog.Any("_aws", metadata{Timestamp: m.now().UnixMilli(), Metrics: []directive{d}})
	m.logger.LogAttrs(ctx, slog.LevelInfo, "metrics", attrs...)
}
