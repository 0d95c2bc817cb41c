package rig

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Sample is a set of measured durations.
type Sample []time.Duration

// At answers the q-quantile, 0 to 1.
func (s Sample) At(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Clone(s)
	slices.Sort(sorted)
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// Mean is the average.
func (s Sample) Mean() time.Duration {
	var sum time.Duration
	for _, d := range s {
		sum += d
	}
	return sum / time.Duration(max(len(s), 1))
}

// Load is what a number of clients achieved together.
type Load struct {
	PerSecond float64
	Latency   Sample
}

// Drive lets clients call do as often as they can for the given time, after a tenth of it to warm up.
// do is given the client's number and must be safe for concurrent use by different clients.
func Drive(clients int, period time.Duration, do func(client int) error) (Load, error) {
	var (
		group   sync.WaitGroup
		mu      sync.Mutex
		all     Sample
		failure error
		stop    atomic.Bool
	)
	begin := time.Now().Add(period / 10)
	end := begin.Add(period)
	for client := range clients {
		group.Go(func() {
			var own Sample
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
	return Load{PerSecond: float64(len(all)) / period.Seconds(), Latency: all}, failure
}

// Together does the same n times at once.
func Together[T any](n int, do func(n int) (T, error)) ([]T, error) {
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
