package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// errNobody says that nothing listens at the address.
var errNobody = errors.New("no platform responds")

// look asks whether a platform answers at an address, and answers the address as paths are appended to it.
func look(ctx context.Context, base string) (string, error) {
	base = strings.TrimRight(base, "/")
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/auth/me", nil)
	if err != nil {
		return "", fmt.Errorf("-url: %w", err)
	}
	if request.URL.Scheme != "http" && request.URL.Scheme != "https" {
		return "", fmt.Errorf("-url %s: must start with http:// or https://", base)
	}
	response, err := http.DefaultClient.Do(request)
	var dial *net.OpError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
		return "", fmt.Errorf("%w at %s: start the platform with `make run`, or set another address with -url", errNobody, base)
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled):
		return "", fmt.Errorf("%s: %w", base, ctx.Err())
	case err != nil:
		return "", stranger(base, err.Error())
	}
	defer func() { _ = response.Body.Close() }()
	var refusal struct{ Code string }
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err == nil {
		err = json.Unmarshal(body, &refusal)
	}
	if err != nil || response.StatusCode != http.StatusUnauthorized || refusal.Code != "AUTH_INVALID_TOKEN" {
		return "", stranger(base, response.Status)
	}
	return base, nil
}

// stranger is what to say of an address at which something else answers.
func stranger(base, said string) error {
	return fmt.Errorf("another program uses %s, or the platform there does not work (GET /api/auth/me: %s): free the port, or set another one with PORT=…", base, said)
}

// onThisMachine reports whether an address is one at which `make run` would answer.
func onThisMachine(base string) bool {
	parsed, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(parsed.Hostname())
	return parsed.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// platform is one that the demo runs for itself.
type platform struct {
	command *exec.Cmd
	url     string
	folder  string // its data and its log
	took    time.Duration
	ended   chan struct{} // closed when the process has ended
}

// settings are those of `make run`; what the environment sets wins.
var settings = map[string]string{
	"COOKIE_PLAIN_HTTP": "true", "WEBHOOK_ALLOW_PRIVATE": "true", "AI_PROVIDER": "scaffold", "AI_MODEL": "",
}

// environment is the platform's: its ports are free ones, and its data is its own, whatever the caller's environment says.
func environment(folder string) []string {
	all := os.Environ()
	for name, value := range settings {
		if _, set := os.LookupEnv(name); !set {
			all = append(all, name+"="+value)
		}
	}
	return append(all, "PORT=0", "AWS_PORT=0", "DATA_DIR="+filepath.Join(folder, "data"), "AWS_ENDPOINT_URL=")
}

// startPlatform runs a platform until stop.
func startPlatform(ctx context.Context, binaries, template string) (p *platform, err error) {
	program := filepath.Join(binaries, "local")
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("no binaries in %s: build them with `make binaries`", binaries)
	}
	folder, err := os.MkdirTemp("", "devplatform-demo-")
	if err != nil {
		return nil, fmt.Errorf("temporary folder: %w", err)
	}
	p = &platform{folder: folder, ended: make(chan struct{})}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(folder)
		}
	}()
	log, err := os.Create(p.log())
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	defer func() { _ = log.Close() }()
	// An interrupt must not kill it: stop ends it in peace.
	p.command = exec.CommandContext(context.WithoutCancel(ctx), program, "-functions", binaries, "-template", template) //nolint:gosec // what was just built
	p.command.Env, p.command.Stderr = environment(folder), log
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("stdout: %w", err)
	}
	begin := now()
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	ready := make(chan string, 1)
	go func() {
		defer close(p.ended)
		ready <- readyURL(stdout)
		_, _ = io.Copy(io.Discard, stdout)
		_ = p.command.Wait()
	}()
	select {
	case p.url = <-ready:
	case <-ctx.Done():
	case <-time.After(time.Minute):
	}
	p.took = now().Sub(begin)
	if p.url == "" {
		said := p.lastWords()
		return nil, errors.Join(fmt.Errorf("it is not ready: %s", said), p.stop())
	}
	return p, nil
}

// readyURL reads to the line that says base URL of the platform; "" if there is none.
func readyURL(stdout io.Reader) string {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "ready: "); ok {
			return address
		}
	}
	return ""
}

func (p *platform) log() string { return filepath.Join(p.folder, "platform.log") }

// lastWords is the last line of the log, which says why a platform did not start.
func (p *platform) lastWords() string {
	log, err := os.ReadFile(p.log())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	return lines[len(lines)-1]
}

// stop ends the platform as Ctrl-C does, and removes its folder.
func (p *platform) stop() error {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
		_ = p.command.Process.Kill()
		<-p.ended
	}
	if err := os.RemoveAll(p.folder); err != nil {
		return fmt.Errorf("temporary folder: %w", err)
	}
	return nil
}
