package bodies_test

import (
	"errors"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"devplatform/infra/bodies"
	"devplatform/infra/routes"
	"devplatform/shared/fault"
)

// The limits of what a body costs. The functions of the API have 512 MB.
const (
	maxAllocated = 25  // bytes for each byte of the body
	maxTimes     = 10  // of the CPU time of a valid body of the same size
	turns        = 8   // before a body counts as too expensive
	maxHeap      = 100 // MiB
)

// TestBodiesAreCheap reads the most expensive bodies of every endpoint. It runs without garbage collection, so that the
// allocated bytes are also the peak of the heap. The CPU times of a body and of a valid body are measured in turns. The
// least of each counts, because other processes can only add to it.
func TestBodiesAreCheap(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	all, err := bodies.For(routes.All())
	if err != nil {
		t.Fatal(err)
	}
	var valid bodies.Body
	var validData []byte
	for _, b := range all {
		data := b.Data()
		cost := b.Read(data)
		if b.Valid {
			valid, validData = b, data
			if cost.Err != nil {
				t.Fatalf("%s: got the error %v for the example in the OpenAPI document", b.Endpoint, cost.Err)
			}
			continue
		}
		name := b.Endpoint + ": " + b.Shape
		var failure *fault.Error
		if cost.Err != nil && (!errors.As(cost.Err, &failure) || failure.Code != fault.CodeValidationFailed) {
			t.Errorf("%s: got the error %v, want VALIDATION_FAILED", name, cost.Err)
		}
		if len(data) > 1<<20 && !strings.Contains(b.Shape, "unknown") && cost.Err == nil {
			t.Logf("%s: accepted", name)
		}
		if each := float64(cost.Allocated) / float64(len(data)); each > maxAllocated || cost.Allocated > maxHeap<<20 {
			t.Errorf("%s: %d bytes allocated, %.1f for each byte, want at most %d", name, cost.Allocated, each, maxAllocated)
		}
		least, leastValid := cost.CPU, time.Duration(1<<62)
		for turn := 0; turn < turns && (turn == 0 || least > maxTimes*leastValid); turn++ {
			leastValid = min(leastValid, valid.Read(validData).CPU)
			least = min(least, b.Read(data).CPU)
		}
		if least > maxTimes*leastValid {
			t.Errorf("%s: %v, %.1f times as long as a valid body (%v), want at most %d times",
				name, least, float64(least)/float64(leastValid), leastValid, maxTimes)
		}
	}
}
