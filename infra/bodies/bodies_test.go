package bodies_test

import (
	"errors"
	"runtime/debug"
	"testing"
	"time"

	"devplatform/infra/bodies"
	"devplatform/infra/routes"
	"devplatform/infra/testmode"
	"devplatform/shared/fault"
)

const (
	maxAllocated = 25        // bytes for each byte of the body
	maxHeap      = 100 << 20 // bytes; a function of the API has 512 MB
	maxTimes     = 10        // of the CPU time of a valid body of the same size
	maxTurns     = 20        // before a body counts as too expensive
	// alwaysCheap is a CPU time that is never too long. The times of small bodies vary too much to compare them.
	alwaysCheap = time.Millisecond
)

// measured is a body with its cost.
type measured struct {
	bodies.Body
	bodies.Cost
}

// remeasure replaces the CPU time if it is now less. Other work of the machine can only add to it.
func (m *measured) remeasure() { m.CPU = min(m.CPU, m.Read(m.Data()).CPU) }

// TestBodiesAreCheap reads the most expensive bodies of every endpoint. It runs without garbage collection, so that the
// number of allocated bytes is also the peak of the heap.
func TestBodiesAreCheap(t *testing.T) {
	testmode.SkipIfShort(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	all, err := bodies.For(routes.All())
	if err != nil {
		t.Fatal(err)
	}
	byEndpoint := map[string][]*measured{}
	for _, b := range all {
		data := b.Data()
		m := &measured{b, b.Read(data)}
		byEndpoint[b.Endpoint] = append(byEndpoint[b.Endpoint], m)
		if m.Err != nil && (b.Valid || !errors.Is(m.Err, fault.Invalid())) {
			t.Errorf("%s, %s: got the error %v, want VALIDATION_FAILED, or no error for a valid body", b.Endpoint, b.Shape, m.Err)
		}
		if m.Allocated > maxHeap || m.Allocated > maxAllocated*uint64(len(data)) {
			t.Errorf("%s, %s: %d bytes were allocated for %d, want at most %d times as many, and at most %d",
				b.Endpoint, b.Shape, m.Allocated, len(data), maxAllocated, maxHeap)
		}
	}
	if len(all) < 300 {
		t.Errorf("got %d bodies, want at least 300", len(all))
	}
	for _, list := range byEndpoint {
		checkTimes(t, list)
	}
}

// checkTimes compares the invalid bodies of an endpoint with its slowest valid body. If an invalid body seems to take
// too long, both bodies are measured again in turns.
func checkTimes(t *testing.T, list []*measured) {
	t.Helper()
	valid := list[0]
	valid.remeasure() // the first request to an endpoint takes longer
	for _, m := range list {
		if m.Err == nil && m.CPU > valid.CPU {
			valid = m
		}
	}
	for _, m := range list {
		for turn := 0; m.Err != nil && m.CPU > max(maxTimes*valid.CPU, alwaysCheap); turn++ {
			if turn == maxTurns {
				t.Errorf("%s, %s: took %v, want at most %d times the time of the valid body (%s), %v",
					m.Endpoint, m.Shape, m.CPU, maxTimes, valid.Shape, valid.CPU)
				break
			}
			valid.remeasure()
			m.remeasure()
		}
	}
}
