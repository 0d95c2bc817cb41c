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
	Dir     string    // its data folder
	URL     string    // http://localhost:port
	HTTPS   string    // https://localhost:port, with a certificate of its own
	AWS     string    // where AWS's services are
	Table   []string  // what it wrote on stdout before it was ready
	Log     *Log      // what it wrote on stderr: its own log and the functions'
	Command *exec.Cmd // its process

	t      testing.TB
	exited chan struct{} // closed when the process has ended
}

// Command prepares the platform on free ports with its data in dir, with the settings of `make run`. env ("NAME=value") adds to and
// overrides them.
func Command(t testing.TB, dir string, env ...string) *exec.Cmd {
	t.Helper()
	bin := Binaries(t)
	command := exec.Command(filepath.Join(bin, "local"), "-functions", bin) //nolint:gosec,noctx // what was just built; it outlives contexts
	command.Dir = Root
	command.Env = append(os.Environ(), "PORT=0", "AWS_PORT=0", "DATA_DIR="+dir, "COOKIE_PLAIN_HTTP=true",
		"WEBHOOK_ALLOW_PRIVATE=true", "LIMIT_LOGIN_IP=10000", "LIMIT_SIGNUP_IP=10000", "LIMIT_OAUTH_IP=10000",
		"AI_PROVIDER=scaffold", "AI_MODEL=")
	command.Env = append(command.Env, env...)
	noteEnv(env)
	return command
}

// Start runs a platform in a fresh folder until the test ends. Secrets in its log fail the test.
func Start(t testing.TB, env ...string) *Platform {
	t.Helper()
	return StartIn(t, t.TempDir(), env...)
}

// StartIn runs a platform on existing data.
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
		noteKeys(dir)
		for _, leak := range leaks(p.Log.String()) {
			t.Errorf("a secret is in the log: %s", leak)
		}
		if t.Failed() {
			t.Logf("the platform's log:\n%s", p.Log.Tail(8000))
		}
	})
	select {
	case ok := <-ready:
		if !ok {
			t.Fatalf("the platform ended before it was ready:\n%s", p.Log.Tail(4000))
		}
	case <-time.After(time.Minute):
		t.Fatalf("not ready within a minute:\n%s", p.Log.Tail(4000))
	}
	return p
}

// readTable reads stdout up to the ready line.
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

// Kill ends the platform as a power cut would, and waits until it is gone.
func (p *Platform) Kill() {
	_ = p.Command.Process.Kill()
	<-p.exited
}

// Interrupt sends Ctrl-C's signal and answers how long the platform took to end. More than the time given fails the test.
func (p *Platform) Interrupt(within time.Duration) time.Duration {
	p.t.Helper()
	begin := time.Now() //nolint:forbidigo // a process of its own has the real clock
	if err := p.Command.Process.Signal(syscall.SIGINT); err != nil {
		p.t.Fatal(err)
	}
	select {
	case <-p.exited:
	case <-time.After(within):
		p.t.Fatalf("still running %v after SIGINT", within)
	}
	return time.Since(begin) //nolint:forbidigo // as above
}

// Children are the process ids of the functions' instances that are running. A test that asks is skipped without pgrep; in CI it fails.
func (p *Platform) Children() []int {
	p.t.Helper()
	return ChildrenOf(p.t, p.Command.Process.Pid)
}

// ChildrenOf is Children for a platform that a test started itself.
func ChildrenOf(t testing.TB, pid int) []int {
	t.Helper()
	pgrep := Required(t, "pgrep")
	output, err := exec.Command(pgrep, "-P", strconv.Itoa(pid)).Output() //nolint:gosec,noctx // it ends by itself
	if err != nil {                                                      // no process matched
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

// DynamoDB is the SDK's client for the platform's AWS port.
func (p *Platform) DynamoDB() *dynamodb.Client { return dynamotest.Client(p.AWS) }
