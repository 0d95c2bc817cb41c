package runtime

import "syscall"

// processAttributes puts a process into its own group, so that the terminal's Ctrl-C does not reach it, and a signal
// reaches the processes that it has started. The kernel kills the process when the platform ends, even by SIGKILL.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
