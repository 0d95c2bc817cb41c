//go:build unix && !linux

package sandbox

import (
	"os"
	"syscall"
)

func executable() (string, error) { return os.Executable() } //nolint:wrapcheck // Start wraps it

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func (p *Process) kill() { _ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL) }

func hideMemory() {}

// restrict sets the limits of the Go runtime. watch enforces the others.
func restrict() error {
	limitRuntime()
	return nil
}
