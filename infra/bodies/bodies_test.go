package bodies_test

import (
	"errors"
	"runtime/debug"
	"testing"

	"devplatform/infra/bodies"
	"devplatform/infra/routes"
	"devplatform/shared/fault"
)

const (
	maxAllocated = 25        // bytes for each byte of the body
	maxHeap      = 100 << 20 // bytes; a function of the API has 512 MB
	maxTimes     = 10        // of the CPU time of a valid body of the same size
	maxTurns     = 20        // before a body counts as too expensive
)

// TestBodiesAreCheap reads the most expensive bodies of every endpoint. It runs without garbage collection, so that the
// number of allocated bytes is also the peak of the heap. If a body seems to take too long, it is measured again in turns
// with a valid body. The least time of each counts, because other work of the machine can only add to it.
func TestBodiesAreCheap(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	all, err := bodies.For(routes.All())
	if err != nil {
		t.Fatal(err)
	}
	var valid bodies.Cost
	var validBody bodies.Body
	for _, b := range all {
		data := b.Data()
		cost := b.Read(data)
		if b.Valid {
			validBody, valid = b, cost
			if cost.Err != nil {
				t.Fatalf("%s: got the error %v for the example in the OpenAPI document", b.Endpoint, cost.Err)
			}
			continue
		}
		if cost.Err != nil && !errors.Is(cost.Err, fault.Invalid()) {
			t.Errorf("%s, %s: got the error %v, want VALIDATION_FAILED", b.Endpoint, b.Shape, cost.Err)
		}
		if cost.Allocated > maxHeap || cost.Allocated > maxAllocated*uint64(len(data)) {
			t.Errorf("%s, %s: %d bytes were allocated for %d, want at most %d times as many, and at most %d",
				b.Endpoint, b.Shape, cost.Allocated, len(data), maxAllocated, maxHeap)
		}
		for turn := 0; turn < maxTurns && cost.CPU > maxTimes*valid.CPU; turn++ {
			valid.CPU = min(valid.CPU, validBody.Read(validBody.Data()).CPU)
			cost.CPU = min(cost.CPU, b.Read(data).CPU)
		}
		if cost.CPU > maxTimes*valid.CPU {
			t.Errorf("%s, %s: took %v, want at most %d times the time of a valid body, %v",
				b.Endpoint, b.Shape, cost.CPU, maxTimes, valid.CPU)
		}
	}
	if len(all) < 300 {
		t.Errorf("got %d bodies, want at least 300", len(all))
	}
}
