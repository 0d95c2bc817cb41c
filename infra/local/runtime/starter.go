package runtime

import (
	"fmt"
	"os/exec"
	goruntime "runtime"
	"sync/atomic"
)

// starter starts all child processes from one operating-system thread that lives as long as the
// Runtime: the kernel's parent-death signal is sent when the starting thread ends, not the process.
type starter struct {
	work  chan func()
	count atomic.Int64
}

func newStarter() *starter {
	s := &starter{work: make(chan func())}
	go func() {
		goruntime.LockOSThread()
		defer goruntime.UnlockOSThread()
		for do := range s.work {
			do()
		}
	}()
	return s
}

func (s *starter) start(cmd *exec.Cmd) error {
	s.count.Add(1)
	done := make(chan error, 1)
	s.work <- func() { done <- cmd.Start() }
	if err := <-done; err != nil {
		return fmt.Errorf("start the process: %w", err)
	}
	return nil
}

func (s *starter) stop() { close(s.work) }
