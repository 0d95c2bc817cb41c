package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"devplatform/infra/local/processors"
)

// children returns the IDs of the child processes. It returns none if the system has no /proc.
func children(pid int) (all []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		content, _ := os.ReadFile(list) // a thread that has ended has no children
		for field := range strings.FieldsSeq(string(content)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// CPU returns the CPU time that a process and its descendants have used, including those that have ended. It returns 0
// if the system has no /proc.
func CPU(pid int) time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // a process that has ended counts with its parent
	_, rest, found := strings.Cut(string(stat), ") ")         // the name in brackets can contain spaces
	fields := strings.Fields(rest)
	if !found || len(fields) < 15 {
		return 0
	}
	var sum time.Duration
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime
		n, _ := strconv.ParseInt(field, 10, 64)
		sum += time.Duration(n) * processors.Tick
	}
	for _, child := range children(pid) {
		sum += CPU(child)
	}
	return sum
}

// MachineCPU returns the CPU time that all processes have used since the start of the machine, or 0 without /proc.
func MachineCPU() time.Duration {
	idle, total := processors.Time()
	return total - idle
}

// Resident returns the resident memory of a process in bytes, or 0 if the system has no /proc.
func Resident(pid int) int64 { return memory(pid, "VmRSS:") }

// Peak returns the largest resident memory that a function of the platform has had, in bytes. It looks only at the
// processes that run now. binary is the name of the function's folder. Peak returns 0 if the system has no /proc.
func (p *Process) Peak(binary string) (most int64) {
	for _, pid := range children(p.PID()) {
		path, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if filepath.Base(path) == binary {
			most = max(most, memory(pid, "VmHWM:"))
		}
	}
	return most
}

// memory returns a field of the status of a process, in bytes.
func memory(pid int, field string) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, field); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib * 1024
		}
	}
	return 0
}
