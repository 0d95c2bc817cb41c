package runtime

import (
	"testing"
	"time"
)

func TestProcessors(t *testing.T) {
	t.Parallel()
	now, idle, total := time.Unix(0, 0), 1000, 5000
	p := processors{now: func() time.Time { return now }, read: func() (int, int) { return idle, total }}
	for _, step := range []struct {
		name        string
		after       time.Duration
		idle, total int // ticks since the previous step
		want        bool
	}{
		{"the first measurement", 0, 0, 0, true},
		{"idle", minPeriod, 5, 10, false},
		{"too early to measure", minPeriod / 2, 0, 5, false},
		{"busy since the previous measurement", minPeriod / 2, 1, 5, true},
		{"busy", maxPeriod, 16, 50, true},
		{"a third is idle", maxPeriod, 17, 50, false},
		{"the previous measurement is old", maxPeriod + 1, 51, 51, true},
	} {
		now, idle, total = now.Add(step.after), idle+step.idle, total+step.total
		if got := p.busy(); got != step.want {
			t.Errorf("%s: got busy %t, want %t", step.name, got, step.want)
		}
	}
	idle, total = 0, 0 // the system has no /proc/stat
	now = now.Add(minPeriod)
	if p.busy() {
		t.Error("the processors are busy without a measurement")
	}
}

func TestProcessorTime(t *testing.T) {
	t.Parallel()
	idle, total := processorTime()
	if total == 0 {
		t.Skip("the system has no /proc/stat")
	}
	if idle < 0 || idle > total {
		t.Errorf("the processors were idle for %d of %d ticks", idle, total)
	}
}
