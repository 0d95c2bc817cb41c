//go:build unix && !linux

package runtime

import "syscall"

// processAttributes puts a process into its own group, so that the terminal's Ctrl-C does not reach it, and a signal
// reaches the processes that it has started. The kernel does not kill it with the platform: a function must end when it
// loses the connection to the Runtime API, as aws-lambda-go does.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
