package platformtest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/infra/local/dynamodb/dynamotest"
)

// Platform is a running local platform.
type Platform struct {
	Dir     string    // the data folder
	URL     string    // http://localhost:port
	HTTPS   string    // https://localhost:port, with a self-signed certificate
	AWS     string    // the endpoint of the AWS services
	Table   []string  // the lines on stdout before the ready line: the table of the platform's addresses
	Log     *Log      // stderr: the logs of the platform and of the functions
	Command *exec.Cmd // the process

	t      testing.TB
	exited chan struct{} // closed when the process has ended
}

// Command returns the command that runs the platform on free ports with its data in dir. It has the settings of
// `make run`, which the variables in env ("NAME=value") extend and override.
func Command(t testing.TB, dir string, env ...string) *exec.Cmd {
	t.Helper()
	bin := Binaries(t)
	//nolint:gosec,noctx // this module's binary; no context may end the process
	command := exec.Command(filepath.Join(bin, "local"), "-functions", bin)
	command.Dir = Root
	command.Env = append(os.Environ(), "PORT=0", "AWS_PORT=0", "DATA_DIR="+dir, "COOKIE_PLAIN_HTTP=true",
		"WEBHOOK_ALLOW_PRIVATE=true", "LIMIT_LOGIN_IP=10000", "LIMIT_SIGNUP_IP=10000", "LIMIT_OAUTH_IP=10000",
		"AI_PROVIDER=scaffold", "AI_MODEL=")
	command.Env = append(command.Env, env...)
	addEnvSecrets(env)
	return command
}

// Start runs a platform with a new data folder until the test ends. A secret in its log fails the test (see Secret).
func Start(t testing.TB, env ...string) *Platform {
	t.Helper()
	return StartIn(t, t.TempDir(), env...)
}

// StartIn does the same as Start with an existing data folder.
func StartIn(t testing.TB, dir string, env ...string) *Platform {
	t.Helper()
	command := Command(t, dir, env...)
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &Platform{t: t, Command: command, exited: make(chan struct{}), Dir: dir, Log: &Log{}}
	command.Stderr = p.Log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan bool, 1)
	go func() {
		ready <- p.readTable(stdout)
		_, _ = io.Copy(io.Discard, stdout)
		_ = command.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		p.Kill()
		addStoredSecrets(dir)
		for _, leak := range leaks(p.Log.String()) {
			t.Errorf("the platform's log contains a secret: %s", leak)
		}
		if t.Failed() {
			t.Logf("the platform's log:\n%s", p.Log.Tail(8000))
		}
	})
	select {
	case ok := <-ready:
		if !ok {
			t.Fatalf("the platform exited before it was ready:\n%s", p.Log.Tail(4000))
		}
	case <-time.After(time.Minute):
		t.Fatalf("the platform was not ready within a minute:\n%s", p.Log.Tail(4000))
	}
	return p
}

// readTable reads stdout up to the ready line. It reports false if stdout ends before that line.
func (p *Platform) readTable(stdout io.Reader) bool {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		line := lines.Text()
		if url, ok := strings.CutPrefix(line, "ready: "); ok {
			p.URL = url
			return true
		}
		p.Table = append(p.Table, line)
		switch fields := strings.Fields(line); {
		case len(fields) > 1 && fields[0] == "https":
			p.HTTPS = fields[1]
		case len(fields) > 1 && fields[0] == "AWS":
			p.AWS = fields[1]
		}
	}
	return false
}

// Kill kills the platform and waits until its process has ended.
func (p *Platform) Kill() {
	_ = p.Command.Process.Kill()
	<-p.exited
}

// Interrupt sends SIGINT, waits until the process has ended, and returns how long that took. within is the time limit:
// if the process still runs after it, the test fails.
func (p *Platform) Interrupt(within time.Duration) time.Duration {
	p.t.Helper()
	begin := time.Now() //nolint:forbidigo // the other process uses the real clock
	if err := p.Command.Process.Signal(syscall.SIGINT); err != nil {
		p.t.Fatal(err)
	}
	select {
	case <-p.exited:
	case <-time.After(within):
		p.t.Fatalf("the platform still runs %v after SIGINT", within)
	}
	return time.Since(begin) //nolint:forbidigo // the other process uses the real clock
}

// Children returns the process IDs of the running instances of functions. It needs pgrep (see Required).
func (p *Platform) Children() []int {
	p.t.Helper()
	return ChildrenOf(p.t, p.Command.Process.Pid)
}

// ChildrenOf does the same as Children for a platform that the test started with Command.
func ChildrenOf(t testing.TB, pid int) []int {
	t.Helper()
	pgrep := Required(t, "pgrep")
	output, err := exec.Command(pgrep, "-P", strconv.Itoa(pid)).Output() //nolint:gosec,noctx // it ends at once
	if err != nil {                                                      // pgrep found no process
		return nil
	}
	var children []int
	for field := range strings.FieldsSeq(string(output)) {
		if child, err := strconv.Atoi(field); err == nil {
			children = append(children, child)
		}
	}
	return children
}

// DynamoDB returns an SDK client of the platform's DynamoDB.
func (p *Platform) DynamoDB() *dynamodb.Client { return dynamotest.Client(p.AWS) }
