package process_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"devplatform/infra/process"
)

// TestCPU checks that the CPU time of a child process counts while it runs and after it has ended.
func TestCPU(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("the system has no /proc")
	}
	child := exec.Command("sh", "-c", "while :; do :; done")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = child.Process.Kill() })
	for process.CPU(child.Process.Pid) < 100*time.Millisecond {
		time.Sleep(time.Millisecond)
	}
	if own := process.CPU(os.Getpid()); own < 100*time.Millisecond {
		t.Errorf("CPU is %v while the child runs, want at least 100 ms", own)
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	if own := process.CPU(os.Getpid()); own < 100*time.Millisecond {
		t.Errorf("CPU is %v after the child has ended, want at least 100 ms", own)
	}
	if all := process.MachineCPU(); all < process.CPU(os.Getpid()) {
		t.Errorf("the machine has used %v, less than this process", all)
	}
	if process.Resident(os.Getpid()) < 1<<20 {
		t.Error("this process has less than 1 MiB")
	}
}
