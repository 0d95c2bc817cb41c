package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"devplatform/infra/process"
)

// newTimes returns a histogram of durations in microseconds, with three digits.
func newTimes() *hdr.Histogram { return hdr.New(1, int64(10*time.Minute/time.Microsecond), 3) }

// record adds a duration to a histogram.
func record(times *hdr.Histogram, took time.Duration) {
	_ = times.RecordValue(max(took, 0).Microseconds()) // a longer duration than ten minutes cannot occur
}

// at returns a percentile of a histogram of durations.
func at(times *hdr.Histogram, percentile float64) time.Duration {
	return time.Duration(times.ValueAtQuantile(percentile)) * time.Microsecond
}

// section prints the heading of a table.
func section(title string, heads ...any) {
	printf("\n%s\n", title)
	row("", heads...)
}

// row prints a row: durations in milliseconds, rates without a fraction, other values as they are. A duration or a rate
// of 0 was not measured.
func row(name string, values ...any) {
	line := fmt.Sprintf("%-42s", name)
	for _, value := range values {
		switch v := value.(type) {
		case time.Duration:
			value = fmt.Sprintf("%.2f ms", float64(v)/float64(time.Millisecond))
		case float64:
			value = strconv.FormatFloat(v, 'f', 0, 64)
		}
		if value == "0.00 ms" || value == "0" {
			value = "-"
		}
		line += fmt.Sprintf(" %12v", value)
	}
	printf("%s\n", strings.TrimRight(line, " "))
}

func printf(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format, args...) }

// mb returns a number of bytes in millions.
func mb(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// ratio returns a divided by b.
func ratio[T int64 | float64 | time.Duration](a, b T) string {
	return fmt.Sprintf("%.2fx", float64(a)/float64(b))
}

// busyShare is the share of the machine's CPU time above which other programs disturb the measurements.
const busyShare = 0.1

// others measures the CPU time that other programs use.
type others struct {
	begin      time.Time
	own, total time.Duration
}

func watchOthers() others {
	return others{time.Now(), process.CPU(os.Getpid()), process.MachineCPU()}
}

// print warns if other programs used much CPU time since watchOthers.
func (o others) print() {
	used := (process.MachineCPU() - o.total) - (process.CPU(os.Getpid()) - o.own)
	share := float64(used) / float64(time.Since(o.begin)) / float64(runtime.NumCPU())
	if share > busyShare && process.MachineCPU() > 0 {
		printf("BUSY: other programs used %.0f %% of the CPU time. Ignore the times and rates above.\n", 100*share)
	}
}

// printMachine prints the measured version and the machine.
func printMachine(ctx context.Context) {
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output()
	if err != nil {
		commit = []byte("unknown commit")
	}
	printf("%s/%s, %d cores, %s, %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(),
		strings.TrimSpace(string(commit)))
}

// pauseBriefly waits 50 to 150 ms. A fixed pause would lock onto the polling interval of the local platform.
func pauseBriefly() { time.Sleep(50*time.Millisecond + rand.N(100*time.Millisecond)) }

// load is the result of clients that send requests as fast as they can.
type load struct {
	perSecond float64
	*hdr.Histogram
}

// values returns the columns requests/s, p50 and p99.
func (l load) values() []any { return []any{l.perSecond, at(l.Histogram, 50), at(l.Histogram, 99)} }

// drive makes clients call the function do again and again for a period, after a tenth of it to warm up.
func drive(clients int, period time.Duration, do func(client int) error) (load, error) {
	begin := time.Now().Add(period / 10)
	end := begin.Add(period)
	var failed atomic.Bool
	all, err := parallel(clients, func(client int) (*hdr.Histogram, error) {
		times := newTimes()
		for start := time.Now(); start.Before(end) && !failed.Load(); start = time.Now() {
			if err := do(client); err != nil {
				failed.Store(true)
				return nil, err
			}
			if start.After(begin) {
				record(times, time.Since(start))
			}
		}
		return times, nil
	})
	if err != nil {
		return load{}, err
	}
	sum := newTimes()
	for _, times := range all {
		sum.Merge(times)
	}
	return load{float64(sum.TotalCount()) / period.Seconds(), sum}, nil
}

// parallel calls the function do n times in parallel, with 0 to n-1, and returns the results.
func parallel[T any](n int, do func(n int) (T, error)) ([]T, error) {
	all, errs := make([]T, n), make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { all[i], errs[i] = do(i) })
	}
	group.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("%d of %d: %w", i+1, n, err)
		}
	}
	return all, nil
}
