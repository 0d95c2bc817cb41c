package webhook

import (
	"sync"

	"devplatform/shared/metric"
)

// The pipeline's metrics (RUNBOOK.md).
const (
	metricMade       = "DeliveriesMade"
	metricAttempts   = "DeliveryAttempts"
	metricSuccesses  = "DeliverySuccesses"
	metricFailures   = "DeliveryFailures" // attempts that failed
	metricLatency    = "DeliveryLatency"  // from the event to its success
	metricParked     = "DeliveriesParked"
	metricDisabled   = "WebhooksDisabled"
	metricUnreadable = "WebhooksUnreadable"
	metricDue        = "DeliveriesDue"
	metricOldest     = "OldestUndelivered" // how late the latest of those that are due is
)

// tally collects what one invocation has to tell. It is safe for concurrent use.
type tally struct {
	mu     sync.Mutex
	values map[string][]float64
	units  map[string]metric.Unit
	order  []string
}

// count adds one.
func (t *tally) count(name string) { t.add(name, metric.Count, 1) }

// add adds to a sum.
func (t *tally) add(name string, unit metric.Unit, value float64) {
	t.fold(name, unit, value, func(sum, value float64) float64 { return sum + value })
}

// highest keeps the highest value, which is not below 0.
func (t *tally) highest(name string, unit metric.Unit, value float64) {
	t.fold(name, unit, max(value, 0), func(highest, value float64) float64 { return max(highest, value) })
}

// fold makes one value of those of a metric.
func (t *tally) fold(name string, unit metric.Unit, value float64, fold func(before, value float64) float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.known(name, unit) {
		t.values[name] = []float64{value}
		return
	}
	t.values[name][0] = fold(t.values[name][0], value)
}

// observe adds a value.
func (t *tally) observe(name string, unit metric.Unit, value float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known(name, unit)
	t.values[name] = append(t.values[name], value)
}

// known reports whether there is something of a metric already, with the lock held.
func (t *tally) known(name string, unit metric.Unit) bool {
	if t.values == nil {
		t.values, t.units = map[string][]float64{}, map[string]metric.Unit{}
	}
	if _, ok := t.units[name]; ok {
		return true
	}
	t.units[name], t.order = unit, append(t.order, name)
	return false
}

// all is what was collected, in the order of its beginnings.
func (t *tally) all() []metric.Value {
	t.mu.Lock()
	defer t.mu.Unlock()
	values := make([]metric.Value, 0, len(t.order))
	for _, name := range t.order {
		values = append(values, metric.Value{Name: name, Unit: t.units[name], Values: t.values[name]})
	}
	return values
}
