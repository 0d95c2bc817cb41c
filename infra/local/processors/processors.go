// Package processors measures the load of this machine's processors. It must not contain what depends on a single
// process.
package processors

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Tick is the unit of the times in /proc on Linux.
const Tick = 10 * time.Millisecond

const (
	// MinPeriod and maxPeriod limit the period over which the load of the processors is measured. A longer period
	// does not describe the present load.
	MinPeriod = 50 * time.Millisecond
	maxPeriod = 5 * MinPeriod
	// Processors are busy if they are idle for less than 1/idlePart of the time.
	idlePart = 3
)

// Meter measures whether the processors are busy.
type Meter struct {
	now  func() time.Time
	read func() (idle, total time.Duration) // see Time

	mu          sync.Mutex
	at          time.Time // of the latest measurement
	idle, total time.Duration
	result      bool
}

// NewMeter returns a Meter with a clock. It does no I/O.
func NewMeter(now func() time.Time) *Meter { return &Meter{now: now, read: Time} }

// Busy reports whether the processors were busy between the two latest measurements. It measures at most once in
// MinPeriod. If the previous measurement was more than maxPeriod ago, it reports true. It reports false if the system
// has no /proc/stat.
func (m *Meter) Busy() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	since := now.Sub(m.at)
	if since < MinPeriod {
		return m.result
	}
	idle, total := m.read()
	if total == 0 {
		return false
	}
	m.result = since > maxPeriod || (idle-m.idle)*idlePart < total-m.total
	m.at, m.idle, m.total = now, idle, total
	return m.result
}

// Time returns the time of all processors since the start of the machine: idle, and in total. It returns 0 if the
// system has no /proc/stat.
func Time() (idle, total time.Duration) {
	content, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(content), "\n")
	for i, field := range strings.Fields(line) { // cpu user nice system idle iowait irq softirq steal guest guest_nice
		ticks, _ := strconv.ParseInt(field, 10, 64)
		if i <= 8 { // the times of guests are included in user and nice
			total += time.Duration(ticks) * Tick
		}
		if i == 4 || i == 5 {
			idle += time.Duration(ticks) * Tick
		}
	}
	return idle, total
}
