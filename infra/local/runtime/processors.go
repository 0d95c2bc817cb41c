package runtime

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// minPeriod and maxPeriod limit the period over which the load of the processors is measured. A longer period says
	// nothing about the present load.
	minPeriod = 50 * time.Millisecond
	maxPeriod = 5 * minPeriod
	// Processors are busy if they are idle for less than 1/idlePart of the time.
	idlePart = 3
)

// processors measures whether the processors of this machine are busy.
type processors struct {
	now  func() time.Time
	read func() (idle, total int) // see processorTime

	mu          sync.Mutex
	at          time.Time // of the latest measurement
	idle, total int
	result      bool
}

// busy reports whether the processors were busy between the two latest measurements. It measures at most once in
// minPeriod. If the previous measurement was more than maxPeriod ago, it reports true. It reports false if the system has
// no /proc/stat.
func (p *processors) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	since := now.Sub(p.at)
	if since < minPeriod {
		return p.result
	}
	idle, total := p.read()
	if total == 0 {
		return false
	}
	p.result = since > maxPeriod || (idle-p.idle)*idlePart < total-p.total
	p.at, p.idle, p.total = now, idle, total
	return p.result
}

// processorTime returns the time of all processors since the start of the machine in ticks: idle, and in total. It
// returns 0 if the system has no /proc/stat.
func processorTime() (idle, total int) {
	content, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(content), "\n")
	for i, field := range strings.Fields(line) { // cpu user nice system idle iowait irq softirq steal guest guest_nice
		ticks, _ := strconv.Atoi(field)
		if i <= 8 { // the times of guests are included in user and nice
			total += ticks
		}
		if i == 4 || i == 5 {
			idle += ticks
		}
	}
	return idle, total
}
