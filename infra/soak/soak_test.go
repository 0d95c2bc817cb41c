package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"devplatform/infra/hooktest"
	"devplatform/infra/openapi/contract"
	"devplatform/infra/platformtest"
)

const (
	// users is the number of concurrent users. The platform and the tests share two cores.
	users = 6
	// rounds is the number of measurements. The first round warms the caches up.
	rounds = 6
	// leak is the number of bytes that each request may leave in a process. slack is the number of bytes that may be left
	// in all: caches are not full after the first rounds.
	leak  = 256
	slack = 4 << 20
	// steady is the allowed growth of the number of goroutines. Functions open a few more connections to the tables when
	// they are busy at the same time.
	steady = 100
)

// sample is the state of an idle process.
type sample struct {
	footprint
	probe
}

// TestSoak sends a service's traffic for the duration SOAK (default: 30 s). Many users use all features, and all
// responses are checked. After each round, when the platform is idle, the goroutines and the memory of every process
// must not have grown with the number of requests.
func TestSoak(t *testing.T) {
	length := 30 * time.Second
	if text := os.Getenv("SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatalf("SOAK=%s: %v", text, err)
		}
	}
	p := start(t, "LAMBDA_CONCURRENCY=4")
	look(t, p.pid) // skips the test if the system has no /proc
	tr := &traffic{t: t, p: p, receiver: hooktest.New(t)}
	history := map[int][]sample{} // by process: a sample for each round in which it ran
	var counts []int64
	disk := p.onDisk()
	for round := range rounds {
		tr.round(length / rounds)
		tr.receiver.Reset()
		counts = append(counts, tr.requests.Load())
		for _, pid := range append(platformtest.ChildrenOf(t, p.pid), p.pid) {
			if state, alive := p.probeProcess(t, pid); alive {
				history[pid] = append(history[pid], sample{look(t, pid), state})
			}
		}
		here := history[p.pid][round]
		t.Logf("%6d requests by %4d users: platform %v, %d goroutines, heap %d KB; %d instances; %d MB on disk",
			counts[round], tr.users.Load(), here.footprint, here.goroutines, here.heap>>10, len(history)-1, (p.onDisk()-disk)>>20)
		if t.Failed() {
			t.FailNow()
		}
	}
	served, watched := counts[rounds-1]-counts[1], 0 // requests after the second sample; processes
	for pid, samples := range history {
		name := "platform"
		if pid != p.pid {
			name = fmt.Sprintf("%s (%d)", p.names[pid], pid)
		}
		if len(samples) < rounds {
			continue // it did not run all the time
		}
		watched++
		last := samples[rounds-1]
		t.Logf("%s: %d to %d goroutines, heap %d to %d KB, %v to %v", name, samples[1].goroutines, last.goroutines,
			samples[1].heap>>10, last.heap>>10, samples[1].footprint, last.footprint)
		if problem := grown(samples, served); problem != "" {
			t.Errorf("%s, over %d requests: %s", name, served, problem)
		}
	}
	if watched < 2 {
		t.Error("no instance of a function ran from the beginning to the end")
	}
	if len(p.errors) > 0 {
		t.Errorf("%d errors in the log, the first:\n%s", len(p.errors), p.errors[0])
	}
}

// grown describes what grew since the first round, or returns "". It compares the median of the last three samples with
// the maximum of the first two, because a single sample can be an outlier.
func grown(samples []sample, requests int64) string {
	late := samples[len(samples)-3:]
	early := samples[:2]
	goroutines := func(s sample) int64 { return int64(s.goroutines) }
	heap := func(s sample) int64 { return s.heap }
	if was, is := most(early, goroutines), median(late, goroutines); is > was+steady {
		return fmt.Sprintf("%d goroutines became %d", was, is)
	}
	if was, is := most(early, heap), median(late, heap); is > was+slack+leak*requests {
		return fmt.Sprintf("a heap of %d KB became %d KB", was>>10, is>>10)
	}
	return ""
}

func most(samples []sample, of func(sample) int64) (value int64) {
	for _, s := range samples {
		value = max(value, of(s))
	}
	return value
}

func median(samples []sample, of func(sample) int64) int64 {
	var values []int64
	for _, s := range samples {
		values = append(values, of(s))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// round runs users for a time, and waits until all of them have finished.
func (tr *traffic) round(length time.Duration) {
	ctx, cancel := context.WithTimeout(tr.t.Context(), length)
	defer cancel()
	var all sync.WaitGroup
	for range users {
		all.Go(func() {
			for ctx.Err() == nil && !tr.t.Failed() {
				tr.day(ctx)
			}
		})
	}
	all.Wait()
}

// check checks a response against the OpenAPI document.
func check(t *testing.T, method, path string, a platformtest.Response) {
	contract.Check(t, method, path, a.Status, a.Header, a.Body)
}

// field returns a string field of a response, or "".
func field(a platformtest.Response, name string) string {
	var object map[string]any
	_ = json.Unmarshal(a.Body, &object) // a body that is not an object has no fields
	text, _ := object[name].(string)
	return text
}

// TestGrown checks that grown finds a leak of a goroutine, and of a kilobyte, for each request of five minutes, and
// that it ignores the noise of caches.
func TestGrown(t *testing.T) {
	t.Parallel()
	const requests = 30_000
	for name, test := range map[string]struct {
		goroutines, bytes int64 // for each request
		bad               bool
	}{
		"nothing":     {0, 0, false},
		"a goroutine": {1, 0, true},
		"a kilobyte":  {0, 1 << 10, true},
		"some bytes":  {0, 100, false},
	} {
		var samples []sample
		for n := range int64(rounds) {
			noise := (n * 7 % 3) * 2 << 20
			done := n * requests / (rounds - 1)
			samples = append(samples, sample{probe: probe{goroutines: int(100 + n*5%3 + done*test.goroutines), heap: 20<<20 + noise + done*test.bytes}})
		}
		if got := grown(samples, requests); (got != "") != test.bad {
			t.Errorf("%s: %q", name, got)
		}
	}
}
