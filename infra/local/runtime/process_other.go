//go:build unix && !linux

package runtime

import "syscall"

// processAttributes puts a function into a process group of its own, so that the terminal's Ctrl-C
// is the platform's alone and a signal reaches what the function started. No kernel help against
// orphans here: a runtime that loses the Runtime API's connection ends itself (aws-lambda-go does).
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
