// Package metric tells CloudWatch numbers by way of the log, in its embedded metric format: a metric costs a line and no call.
// Which numbers there are, and what they mean, is not known here.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
package metric

import (
	"context"
	"log/slog"
	"math"
	"slices"

	"devplatform/shared/clock"
)

// Unit is what a metric's values are.
type Unit string

// The units in use; CloudWatch knows more.
const (
	Count        Unit = "Count"
	Milliseconds Unit = "Milliseconds"
	Seconds      Unit = "Seconds"
	Bytes        Unit = "Bytes"
)

// Value is a metric and what was measured of it since it was told last. The name is not one of time, level and msg, which the line
// has besides.
type Value struct {
	Name   string
	Unit   Unit
	Values []float64
}

// Metrics tells the metrics of one namespace. It is safe for concurrent use.
type Metrics struct {
	logger    *slog.Logger
	namespace string
	now       clock.Clock
}

// New tells metrics through a logger whose lines are JSON objects and go to CloudWatch as they are. Without a namespace it tells
// none.
func New(logger *slog.Logger, namespace string, now clock.Clock) *Metrics {
	return &Metrics{logger: logger, namespace: namespace, now: now}
}

// Limits of a line.
const (
	maxMetrics = 100
	maxValues  = 100 // of one metric
)

// Put tells the values, without dimensions, in one line if they fit into one. What has no values, or none that is a number, is
// not told.
func (m *Metrics) Put(ctx context.Context, values ...Value) {
	if m.namespace == "" {
		return
	}
	told := make([]Value, 0, len(values))
	for _, v := range values {
		if v.Values = finite(v.Values); len(v.Values) > 0 {
			told = append(told, v)
		}
	}
	for metrics := range slices.Chunk(told, maxMetrics) {
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

// finite is the values without those that JSON has no word for.
func finite(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// The parts of a line that tell CloudWatch what is in it.
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

// put writes one line.
func (m *Metrics) put(ctx context.Context, values []Value) {
	// One set of no dimensions: CloudWatch then keeps one series a metric.
	d := directive{Namespace: m.namespace, Dimensions: [][]string{{}}}
	attrs := make([]slog.Attr, 1, len(values)+1)
	for _, v := range values {
		d.Metrics = append(d.Metrics, definition{v.Name, v.Unit})
		attrs = append(attrs, slog.Any(v.Name, v.Values))
	}
	attrs[0] = slog.Any("_aws", metadata{Timestamp: m.now().UnixMilli(), Metrics: []directive{d}})
	m.logger.LogAttrs(ctx, slog.LevelInfo, "metrics", attrs...)
}
