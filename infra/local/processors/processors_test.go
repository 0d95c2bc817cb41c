package processors

import (
	"testing"
	"time"
)

func TestBusy(t *testing.T) {
	t.Parallel()
	now, idle, total := time.Unix(0, 0), 1000*Tick, 5000*Tick
	m := NewMeter(func() time.Time { return now })
	m.read = func() (time.Duration, time.Duration) { return idle, total }
	for _, step := range []struct {
		name        string
		after       time.Duration
		idle, total time.Duration // ticks since the previous step
		want        bool
	}{
		{"the first measurement", 0, 0, 0, true},
		{"idle", MinPeriod, 5, 10, false},
		{"too early to measure", MinPeriod / 2, 0, 5, false},
		{"busy since the previous measurement", MinPeriod / 2, 1, 5, true},
		{"busy", maxPeriod, 16, 50, true},
		{"a third is idle", maxPeriod, 17, 50, false},
		{"the previous measurement is old", maxPeriod + 1, 51, 51, true},
	} {
		now, idle, total = now.Add(step.after), idle+step.idle*Tick, total+step.total*Tick
		if got := m.Busy(); got != step.want {
			t.Errorf("%s: got busy %t, want %t", step.name, got, step.want)
		}
	}
	idle, total = 0, 0 // the system has no /proc/stat
	now = now.Add(MinPeriod)
	if m.Busy() {
		t.Error("the processors are busy without a measurement")
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	idle, total := Time()
	if total == 0 {
		t.Skip("the system has no /proc/stat")
	}
	if idle < 0 || idle > total {
		t.Errorf("the processors were idle for %v of %v", idle, total)
	}
}
