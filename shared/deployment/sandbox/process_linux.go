package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// executable returns the path of this binary, even if another binary has replaced its file.
func executable() (string, error) { return "/proc/self/exe", nil }

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func (p *Process) kill() { _ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL) }

// hideMemory keeps processes of the same user, such as a sandbox, from reading the memory and the environment of this
// process.
var hideMemory = sync.OnceFunc(func() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) })

// restrict sets the limits of this process, which cannot write to files. Where the kernel has Landlock, the process
// sees only its folder, cannot change it, cannot use TCP, and cannot gain privileges.
func restrict() error {
	limitRuntime()
	mapped, err := mappedMemory()
	if err != nil {
		return err
	}
	for _, l := range []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_DATA, mapped + maxMemory}, {unix.RLIMIT_CPU, uint64(maxCPU.Seconds())},
		{unix.RLIMIT_FSIZE, 0}, {unix.RLIMIT_NOFILE, maxOpenFiles}, {unix.RLIMIT_CORE, 0},
	} {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("limit %d: %w", l.resource, err)
		}
	}
	if err := landlock.V7.BestEffort().Restrict(landlock.RODirs(".")); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

// mappedMemory returns the size of the memory that RLIMIT_DATA counts. The race detector maps much memory at its start.
func mappedMemory() (uint64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte("VmData:")); ok {
			kilobytes, err := strconv.ParseUint(string(bytes.TrimSuffix(bytes.TrimSpace(value), []byte(" kB"))), 10, 64)
			return kilobytes << 10, err //nolint:wrapcheck // names the value
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no VmData")
}
