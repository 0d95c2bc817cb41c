package price_test

import (
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"devplatform/infra/bench/price"
)

func same(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s = %.10f, want %.10f", what, got, want)
	}
}

// The wanted values are worked out by hand, from the figures on AWS's pages.
func TestDollars(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for _, c := range []struct {
		name  string
		units price.Units
		want  float64
	}{
		{"nothing", price.Units{}, 0},
		{"a million requests", price.Units{Gateway: 1e6}, 3.50},
		{"a million invocations", price.Units{Invocations: 1e6}, 0.20},
		{"a million invocations of 10 ms at half a GB", price.Units{GBSeconds: 5000}, 0.066667}, // 5,000 × $0.0000133334
		{"a million reads", price.Units{Reads: 1e6}, 0.125},
		{"a million writes", price.Units{Writes: 1e6}, 0.625},
		{"a million queue requests", price.Units{Queue: 1e6}, 0.50},
		{"2 GB of logs", price.Units{LogBytes: 2 * gib}, 1},
		{"200,000 traces", price.Units{Traces: 200e3}, 1},
		{"a million answers of 1 MiB", price.Units{OutBytes: 1e6 * 1024 * 1024}, 87.890625}, // 976.5625 GB × $0.09
		{"all of it", price.Units{1e6, 1e6, 5000, 1e6, 1e6, 1e6, 2 * gib, 200e3, gib}, 3.5 + 0.2 + 0.066667 + 0.125 + 0.625 + 0.5 + 1 + 1 + 0.09},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			same(t, "Dollars", c.units.Dollars(), c.want)
		})
	}
}

func TestLinesNameEveryUnitOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i, line := range (price.Units{1, 2, 3, 4, 5, 6, 7, 8, 9}).Lines() {
		same(t, line.Price.Name, line.Units, float64(i+1))
		if seen[line.Price.Name] {
			t.Errorf("%s is billed twice", line.Price.Name)
		}
		seen[line.Price.Name] = true
	}
	if len(seen) != 9 {
		t.Errorf("%d components, want 9", len(seen))
	}
}

func TestPlusAndTimes(t *testing.T) {
	t.Parallel()
	u := price.Units{1, 2, 3, 4, 5, 6, 7, 8, 9}
	if got, want := u.Plus(u), (price.Units{2, 4, 6, 8, 10, 12, 14, 16, 18}); got != want {
		t.Errorf("Plus = %+v, want %+v", got, want)
	}
	if got, want := u.Times(10), (price.Units{10, 20, 30, 40, 50, 60, 70, 80, 90}); got != want {
		t.Errorf("Times = %+v, want %+v", got, want)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, c := range []struct {
		answer   int
		streamed bool
		want     float64
	}{{0, false, 1}, {5 * mib, false, 1}, {0, true, 1}, {1, true, 1}, {10 * mib, true, 1}, {10*mib + 1, true, 2}, {25 * mib, true, 3}} {
		same(t, "Requests", price.Requests(c.answer, c.streamed), c.want)
	}
}

func TestBilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		took   time.Duration
		memory int
		want   float64
	}{
		{0, 512, 0.0005}, // at least a millisecond
		{time.Millisecond, 512, 0.0005},
		{1100 * time.Microsecond, 512, 0.001}, // each one begun
		{10 * time.Second, 512, 5},
		{time.Second, 1024, 1},
	} {
		same(t, "Billed", price.Billed(c.took, c.memory), c.want)
	}
}

func TestTraced(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ requests, seconds, want float64 }{
		{0, 100, 0},
		{50, 100, 50},           // less than one a second: all
		{100, 100, 100},         // one a second: all
		{10_000, 100, 595},      // 100 a second: 1 + 5 % of 99, a hundred times
		{1e6, 2628e3, 1e6},      // a million in a month are less than one a second
		{10e6, 2628e3, 2996600}, // 2,628,000 + 5 % of 7,372,000
	} {
		same(t, "Traced", price.Traced(c.requests, time.Duration(c.seconds)*time.Second), c.want)
	}
}

func TestMonth(t *testing.T) {
	t.Parallel()
	same(t, "every minute", price.Every(time.Minute), 43_800)
	same(t, "every five minutes", price.Every(5*time.Minute), 8_760)
	same(t, "tokens", price.Tokens(6000, 800), 0.03) // $0.018 + $0.012
	same(t, "sum", price.Sum([]price.Line{{price.Secret, 2}, {price.Alarm, 24}, {price.Key, 8760}}), 0.8+2.4+0.02628)
}

func TestPricesSayWhereTheyAreFrom(t *testing.T) {
	t.Parallel()
	for _, p := range price.All() {
		if p.Name == "" || p.Unit == "" || p.Dollars <= 0 || p.Per <= 0 {
			t.Errorf("%+v is incomplete", p)
		}
		if !strings.HasPrefix(p.Source, "aws.amazon.com/") {
			t.Errorf("%s: source %q is no page of AWS", p.Name, p.Source)
		}
		if p.Seen != "" && !regexp.MustCompile(`^20\d\d(-\d\d)?$`).MatchString(p.Seen) {
			t.Errorf("%s: seen %q is neither a year nor a month", p.Name, p.Seen)
		}
	}
}
