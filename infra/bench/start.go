package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// running is a local platform started as `make run` starts it.
type running struct {
	command *exec.Cmd
	url     string
	aws     string
	took    time.Duration // exec to the ready line
}

// startPlatform runs the platform on free ports with its data in dir, until stop.
func (b *bench) startPlatform(ctx context.Context, dir string, env ...string) (*running, error) {
	command := exec.CommandContext(ctx, filepath.Join(b.binaries, "local"), "-functions", b.binaries)
	command.Env = append(os.Environ(), "PORT=0", "AWS_PORT=0", "DATA_DIR="+dir, "COOKIE_PLAIN_HTTP=true",
		"WEBHOOK_ALLOW_PRIVATE=true", "LIMIT_LOGIN_IP=100000", "LIMIT_SIGNUP_IP=100000",
		"AI_PROVIDER=scaffold", "AI_MODEL=", "LIMIT_AI_MINUTE=1000000", "AI_MONTHLY_TOKENS=1000000000000")
	command.Env = append(command.Env, env...)
	log, err := os.Create(filepath.Join(b.scratch, "platform.log"))
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	command.Stderr = log
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("stdout: %w", err)
	}
	p := &running{command: command}
	begin := time.Now()
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && fields[0] == "AWS" {
			p.aws = fields[1]
		}
		if url, ok := strings.CutPrefix(lines.Text(), "ready: "); ok {
			p.took, p.url = time.Since(begin), url
			go func() { _, _ = io.Copy(io.Discard, stdout) }()
			return p, nil
		}
	}
	_ = command.Wait()
	said, _ := os.ReadFile(log.Name())
	return nil, fmt.Errorf("the platform ended before it was ready: %s", said)
}

// stop ends the platform and answers how long that took.
func (p *running) stop() time.Duration {
	begin := time.Now()
	_ = p.command.Process.Signal(syscall.SIGTERM)
	_ = p.command.Wait()
	return time.Since(begin)
}

// platformStart measures `make run` with built binaries: to the ready line with and without data, and the memory of
// the platform and of one function instance after a request.
func (b *bench) platformStart(ctx context.Context) error {
	const runs = 5
	var fresh, again, stop sample
	var memory, function int64
	for i := range runs {
		dir := filepath.Join(b.scratch, fmt.Sprintf("start-%d", i))
		p, err := b.startPlatform(ctx, dir)
		if err != nil {
			return err
		}
		fresh = append(fresh, p.took)
		account, err := signUp(ctx, p.url)
		if err != nil {
			p.stop()
			return err
		}
		if err := account.me(ctx); err != nil {
			p.stop()
			return err
		}
		memory = resident(p.command.Process.Pid)
		for _, pid := range children(p.command.Process.Pid) {
			function = max(function, resident(pid))
		}
		stop = append(stop, p.stop())
		if p, err = b.startPlatform(ctx, dir); err != nil {
			return err
		}
		again = append(again, p.took)
		p.stop()
	}
	b.printf("\nThe local platform with built binaries (median of %d)\n", runs)
	b.printf("%-44s %12s\n", "start to ready, fresh folder", ms(fresh.at(0.5)))
	b.printf("%-44s %12s\n", "start to ready, existing data", ms(again.at(0.5)))
	b.printf("%-44s %12s\n", "SIGTERM to exit", ms(stop.at(0.5)))
	b.printf("%-44s %9.1f MB\n", "resident, platform, after the first requests", float64(memory)/1e6)
	b.printf("%-44s %9.1f MB\n", "resident, auth function, after a login", float64(function)/1e6)
	return nil
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
			var child int
			if _, err := fmt.Sscan(field, &child); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}
