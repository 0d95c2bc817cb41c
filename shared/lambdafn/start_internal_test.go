package lambdafn

import (
	"runtime/debug"
	"testing"
)

// TestLimitHeap is not parallel, because the limit applies to the whole process.
func TestLimitHeap(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	for _, memory := range []string{"512", "", "0", "-1", "many"} { // values that are not valid change nothing
		limitHeap(memory)
		if limit := debug.SetMemoryLimit(-1); limit < 350<<20 || limit > 360<<20 {
			t.Errorf("with a memory of %q MB, the heap is limited to %d bytes, want about 358 MiB", memory, limit)
		}
	}
}
