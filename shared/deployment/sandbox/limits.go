package sandbox

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The limits of a process. The function has 1,769 MB for itself and the process.
const (
	// maxMemory limits the memory that a process maps after its start, and maxHeap the memory that it uses, in bytes. The
	// garbage collector works harder above softHeap. Below, it runs seldom (gcPercent), because a process is short-lived.
	gcPercent = 400
	maxMemory = 900 << 20
	maxHeap   = 800 << 20
	softHeap  = 600 << 20
	maxStack  = 128 << 20
	// maxCPU is the processor time of two cores during the longest build.
	maxCPU       = 120 * time.Second
	maxOpenFiles = 512
	watchPeriod  = 20 * time.Millisecond
)

// watch ends the process if it uses too much memory, or if the process that started it has ended. Unlike the other
// limits, it also works outside of Linux.
func watch() error {
	parent := os.Getppid()
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for range time.Tick(watchPeriod) {
		metrics.Read(samples)
		if samples[0].Value.Uint64()-samples[1].Value.Uint64() > maxHeap || os.Getppid() != parent {
			os.Exit(exitMemory)
		}
	}
	return nil // not reached: the channel of time.Tick is never closed
}

func limitRuntime() {
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(softHeap)
	debug.SetMaxStack(maxStack)
}
