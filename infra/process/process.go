// Package process builds the local platform, and runs it as a separate process: for programs that are its clients (the
// demo, the benchmarks and the calculation of costs), and for infra/platformtest, which tests use.
package process

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Options describe a platform.
type Options struct {
	Binaries string   // the folder with the platform's and the functions' binaries (make binaries)
	Template string   // the template that it runs, or "" for template.yaml
	WorkDir  string   // the working directory, or "" for the directory of this process
	Dir      string   // the folder of its data
	Env      []string // further variables ("NAME=value")
}

// Process is a running platform.
type Process struct {
	URL     string        // the base URL of the API
	HTTPS   string        // the same with https and a self-signed certificate
	AWS     string        // the endpoint of the AWS services
	Console string        // the base URL of the console, which has the mailbox
	Sites   string        // the origin below which sites are, such as http://localhost:3001
	Table   []string      // the lines on stdout before the ready line: the table of the platform's addresses
	Took    time.Duration // the time from exec to the ready line
	Log     *Log          // the logs of the platform and of the functions, if Start started it
	Command *exec.Cmd

	exited chan struct{} // closed when the process has ended
}

// Command returns the command that runs a platform with the settings of `make run` on free ports. The assistant uses
// the built-in generator, unless Env has a model: requests to a model of the caller's environment could cost money.
func Command(o Options) *exec.Cmd {
	arguments := []string{"-functions", o.Binaries, "-template", cmp.Or(o.Template, "template.yaml")}
	command := exec.CommandContext(context.Background(), filepath.Join(o.Binaries, "local"), arguments...)
	command.Dir = o.WorkDir
	command.Env = append(os.Environ(), "PORT=0", "SITES_PORT=", "AWS_PORT=0", "CONSOLE_PORT=", "AWS_ENDPOINT_URL=",
		"DATA_DIR="+o.Dir, "AI_PROVIDER=scaffold", "AI_MODEL=")
	command.Env = append(command.Env, o.Env...)
	return command
}

// Start starts a platform and returns when it is ready. The end of ctx only ends the wait, and Stop ends the platform.
// If the platform is not ready within a minute, or exits before, the error contains the last line of its log.
func Start(ctx context.Context, o Options) (*Process, error) {
	if _, err := os.Stat(filepath.Join(o.Binaries, "local")); err != nil {
		return nil, fmt.Errorf("no binaries in %s: build them with `make binaries`", o.Binaries)
	}
	command, log := Command(o), &Log{}
	command.Stderr = log
	p, err := Run(ctx, command)
	if p == nil {
		return nil, err
	}
	p.Log = log
	if err != nil {
		p.Stop()
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		return nil, errors.Join(ctx.Err(), fmt.Errorf("the platform is not ready: %s", lines[len(lines)-1]))
	}
	return p, nil
}

// Run starts a command that runs the platform, and returns when it is ready. The end of ctx only ends the wait. If the
// platform is not ready within a minute, or exits before, Run returns the process and an error. If the command cannot
// be started, there is no process.
func Run(ctx context.Context, command *exec.Cmd) (*Process, error) {
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("stdout: %w", err)
	}
	p := &Process{Command: command, exited: make(chan struct{})}
	begin := time.Now()
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	ready := make(chan bool, 1)
	go func() {
		ready <- p.readTable(stdout)
		_, _ = io.Copy(io.Discard, stdout)
		_ = command.Wait()
		close(p.exited)
	}()
	select {
	case isReady := <-ready:
		p.Took = time.Since(begin)
		if !isReady {
			return p, errors.New("the platform exited before it was ready")
		}
		return p, nil
	case <-ctx.Done():
		return p, ctx.Err()
	case <-time.After(time.Minute):
		return p, errors.New("the platform was not ready within a minute")
	}
}

// readTable reads stdout up to the ready line. It reports false if stdout ends before that line.
func (p *Process) readTable(stdout io.Reader) bool {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		line := lines.Text()
		if url, ok := strings.CutPrefix(line, "ready: "); ok {
			p.URL = strings.TrimSpace(url)
			return true
		}
		p.Table = append(p.Table, line)
		switch fields := strings.Fields(line); {
		case len(fields) > 1 && fields[0] == "https":
			p.HTTPS = fields[1]
		case len(fields) > 1 && fields[0] == "AWS":
			p.AWS = fields[1]
		case len(fields) > 1 && fields[0] == "console":
			p.Console = fields[1]
		case len(fields) > 1 && fields[0] == "sites":
			p.Sites = strings.Replace(fields[1], "<label>.", "", 1)
		}
	}
	return false
}

// Stop ends the platform as `kill` does, and returns how long that took. After 20 s, it kills the platform.
func (p *Process) Stop() time.Duration {
	begin := time.Now()
	if !p.End(syscall.SIGTERM, 20*time.Second) {
		p.Kill()
	}
	return time.Since(begin)
}

// End sends a signal, and waits until the process has ended. It reports false if the process still runs after a time.
func (p *Process) End(signal os.Signal, within time.Duration) bool {
	_ = p.Command.Process.Signal(signal) // fails if the process has ended
	select {
	case <-p.exited:
		return true
	case <-time.After(within):
		return false
	}
}

// Kill kills the platform, and waits until its process has ended.
func (p *Process) Kill() {
	_ = p.Command.Process.Kill()
	<-p.exited
}

// PID returns the process ID.
func (p *Process) PID() int { return p.Command.Process.Pid }
