package runtime

import "syscall"

// processAttributes puts a function into a process group of its own, so that the terminal's Ctrl-C
// is the platform's alone and a signal reaches what the function started, and has the kernel kill
// it when the platform dies, by whatever signal.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
