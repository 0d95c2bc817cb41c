// Package rig is what the sections of the bench measure on: the platform as a process of its own, the same parts assembled in
// this process with meters between them, and clients that make load. What is measured, and how it is told, is not known here.
package rig

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is a local platform started as `make run` starts it.
type Process struct {
	// URL is the gateway's. Took is from exec to the ready line.
	URL  string
	Took time.Duration

	command *exec.Cmd
}

// settings are the platform's own; limits are out of the way.
var settings = []string{
	"COOKIE_PLAIN_HTTP=true", "WEBHOOK_ALLOW_PRIVATE=true", "LIMIT_LOGIN_IP=100000", "LIMIT_SIGNUP_IP=100000",
	"AI_PROVIDER=scaffold", "AI_MODEL=", "LIMIT_AI_MINUTE=1000000", "AI_MONTHLY_TOKENS=1000000000000",
}

// Start runs the platform on free ports with its data in dir, until Stop.
func Start(ctx context.Context, binaries, dir string, env ...string) (*Process, error) {
	command := exec.CommandContext(ctx, filepath.Join(binaries, "local"), "-functions", binaries)
	command.Env = append(os.Environ(), "PORT=0", "AWS_PORT=0", "DATA_DIR="+dir)
	command.Env = append(append(command.Env, settings...), env...)
	log, err := os.Create(dir + ".log")
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	defer func() { _ = log.Close() }() // the process has its own
	command.Stderr = log
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("stdout: %w", err)
	}
	p := &Process{command: command}
	begin := time.Now()
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "ready: "); ok {
			p.Took, p.URL = time.Since(begin), url
			go func() { _, _ = io.Copy(io.Discard, stdout) }()
			return p, nil
		}
	}
	_ = command.Wait()
	said, _ := os.ReadFile(log.Name())
	return nil, fmt.Errorf("the platform ended before it was ready: %s", said)
}

// Stop ends the platform and answers how long that took.
func (p *Process) Stop() time.Duration {
	begin := time.Now()
	_ = p.command.Process.Signal(syscall.SIGTERM)
	_ = p.command.Wait()
	return time.Since(begin)
}

// Resident is the memory of the platform and of the largest of its functions, in bytes.
func (p *Process) Resident() (platform, function int64) {
	for _, pid := range children(p.command.Process.Pid) {
		function = max(function, Resident(pid))
	}
	return Resident(p.command.Process.Pid), function
}

// Resident is a process's resident memory in bytes; 0 where the system has no /proc.
func Resident(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib * 1024
		}
	}
	return 0
}

// children lists the child processes of pid; none where the system has no /proc.
func children(pid int) []int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	var all []int
	for _, list := range lists {
		content, err := os.ReadFile(list)
		if err != nil {
			continue
		}
		for field := range strings.FieldsSeq(string(content)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}
