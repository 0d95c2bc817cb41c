package delivery

import (
	"slices"
	"sync"

	"devplatform/shared/metric"
)

// The metrics of deliveries. infra/ALARMS.md describes their alarms.
const (
	metricAttempts     = "DeliveryAttempts"
	metricSuccesses    = "DeliverySuccesses"
	metricFailures     = "DeliveryFailures" // attempts that failed
	metricLatency      = "DeliveryLatency"  // from the event to its successful attempt
	metricMoved        = "DeliveriesMoved"  // from the fast lane to the slow lane
	metricTurns        = "SlowTurns"        // turns of endpoints in the slow lane
	metricTurnsDelayed = "SlowTurnsDelayed" // turns that waited for a slot or for earlier turns of their account
	metricDisabled     = "WebhooksDisabled"
	metricUnreadable   = "WebhooksUnreadable"
	metricDue          = "DeliveriesDue"
	metricOldest       = "OldestUndelivered" // seconds since the most overdue delivery or webhook was due
)

// tally collects the metrics of one invocation. It is safe for concurrent use.
type tally struct {
	mu     sync.Mutex
	values []metric.Value
}

// count adds one.
func (t *tally) count(name string) { t.add(name, 1) }

// add adds to a count.
func (t *tally) add(name string, value float64) {
	t.update(name, metric.Count, func(values []float64) []float64 {
		if len(values) == 0 {
			return []float64{value}
		}
		return []float64{values[0] + value}
	})
}

// highest keeps the highest value, at least 0.
func (t *tally) highest(name string, unit metric.Unit, value float64) {
	t.update(name, unit, func(values []float64) []float64 { return []float64{slices.Max(append(values, value, 0))} })
}

// observe adds a value to a distribution.
func (t *tally) observe(name string, unit metric.Unit, value float64) {
	t.update(name, unit, func(values []float64) []float64 { return append(values, value) })
}

// update changes the values of a metric.
func (t *tally) update(name string, unit metric.Unit, change func([]float64) []float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.values, func(v metric.Value) bool { return v.Name == name })
	if i < 0 {
		i = len(t.values)
		t.values = append(t.values, metric.Value{Name: name, Unit: unit})
	}
	t.values[i].Values = change(t.values[i].Values)
}

// all returns the metrics in the order in which they were first used.
func (t *tally) all() []metric.Value {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.values
}
