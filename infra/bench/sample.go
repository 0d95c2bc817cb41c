package main

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// sample is a set of measured durations.
type sample []time.Duration

// at answers the q-quantile, 0 to 1.
func (s sample) at(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Clone(s)
	slices.Sort(sorted)
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// load is what a number of clients achieved together.
type load struct {
	perSecond float64
	latency   sample
}

// drive lets clients call do as often as they can for the given time, after a tenth of it to warm up.
// do is given the client's number and must be safe for concurrent use by different clients.
func drive(clients int, period time.Duration, do func(client int) error) (load, error) {
	var (
		group   sync.WaitGroup
		mu      sync.Mutex
		all     sample
		failure error
		stop    atomic.Bool
	)
	begin := time.Now().Add(period / 10)
	end := begin.Add(period)
	for client := range clients {
		group.Go(func() {
			var own sample
			for !stop.Load() {
				start := time.Now()
				if start.After(end) {
					break
				}
				if err := do(client); err != nil {
					mu.Lock()
					failure = err
					mu.Unlock()
					stop.Store(true)
					return
				}
				if start.After(begin) {
					own = append(own, time.Since(start))
				}
			}
			mu.Lock()
			all = append(all, own...)
			mu.Unlock()
		})
	}
	group.Wait()
	return load{perSecond: float64(len(all)) / period.Seconds(), latency: all}, failure
}

// ms writes a duration in milliseconds.
func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond)) }

// mean is the average latency.
func (l load) mean() time.Duration {
	var sum time.Duration
	for _, d := range l.latency {
		sum += d
	}
	return sum / time.Duration(max(len(l.latency), 1))
}
