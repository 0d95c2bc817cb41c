package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// root is the project's folder, seen from this package.
const root = "../.."

// built makes the platform and every function once for all tests of the package, and answers their folder.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "devplatform-e2e-")
	if err != nil {
		return "", err
	}
	args := []string{"build", "-tags=lambda.norpc", "-o", dir + "/"}
	if raceFlag != "" {
		args = append(args, raceFlag)
	}
	command := exec.Command("go", append(args, "./infra/local", "./infra/receiver", "./functions/...")...)
	command.Dir = root
	if output, err := command.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w\n%s", err, output)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := built(); dir != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// platform is a running local platform.
type platform struct {
	t       testing.TB
	command *exec.Cmd
	exited  chan struct{} // closed when the process has ended
	dir     string        // its data folder
	url     string        // http://localhost:port
	https   string
	aws     string
	table   []string // what it wrote on stdout before it was ready
	log     *syncBuffer
}

// binaries answers the folder of the built platform and functions.
func binaries(t testing.TB) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatalf("build: %v", err)
	}
	return dir
}

// newCommand prepares the platform on free ports with its data in dir, with the settings of `make run`.
// env adds to and overrides them.
func newCommand(t testing.TB, dir string, env ...string) *exec.Cmd {
	t.Helper()
	bin := binaries(t)
	command := exec.Command(filepath.Join(bin, "local"), "-functions", bin)
	command.Dir = root
	command.Env = append(os.Environ(), "PORT=0", "AWS_PORT=0", "DATA_DIR="+dir, "COOKIE_PLAIN_HTTP=true",
		"WEBHOOK_ALLOW_PRIVATE=true", "LIMIT_LOGIN_IP=10000", "LIMIT_SIGNUP_IP=10000", "LIMIT_OAUTH_IP=10000",
		"AI_PROVIDER=scaffold", "AI_MODEL=")
	command.Env = append(command.Env, env...)
	return command
}

// start runs a platform in a fresh folder until the test ends.
func start(t testing.TB, env ...string) *platform {
	t.Helper()
	return startIn(t, t.TempDir(), env...)
}

// startIn runs a platform on existing data.
func startIn(t testing.TB, dir string, env ...string) *platform {
	t.Helper()
	command := newCommand(t, dir, env...)
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &platform{t: t, command: command, exited: make(chan struct{}), dir: dir, log: &syncBuffer{}}
	command.Stderr = p.log
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
		p.kill()
		if t.Failed() {
			t.Logf("the platform's log:\n%s", p.log.tail(8000))
		}
	})
	select {
	case ok := <-ready:
		if !ok {
			t.Fatalf("the platform ended before it was ready:\n%s", p.log.tail(4000))
		}
	case <-time.After(time.Minute):
		t.Fatalf("not ready within a minute:\n%s", p.log.tail(4000))
	}
	return p
}

// readTable reads stdout up to the ready line.
func (p *platform) readTable(stdout io.Reader) bool {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		line := lines.Text()
		if url, ok := strings.CutPrefix(line, "ready: "); ok {
			p.url = url
			return true
		}
		p.table = append(p.table, line)
		switch fields := strings.Fields(line); {
		case len(fields) > 1 && fields[0] == "https":
			p.https = fields[1]
		case len(fields) > 1 && fields[0] == "AWS":
			p.aws = fields[1]
		}
	}
	return false
}

// kill ends the platform as a power cut would, and waits until it is gone.
func (p *platform) kill() {
	_ = p.command.Process.Kill()
	<-p.exited
}

// interrupt sends Ctrl-C's signal and answers how long the platform took to end.
func (p *platform) interrupt(within time.Duration) time.Duration {
	p.t.Helper()
	begin := time.Now()
	if err := p.command.Process.Signal(syscall.SIGINT); err != nil {
		p.t.Fatal(err)
	}
	select {
	case <-p.exited:
	case <-time.After(within):
		p.t.Fatalf("still running %v after SIGINT", within)
	}
	return time.Since(begin)
}

// syncBuffer is a buffer that a process writes while a test reads.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *syncBuffer) tail(n int) string {
	s := b.String()
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}

// eventually waits until a condition holds; what says what was waited for.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline:
			t.Fatalf("waited 20 s in vain: %s", what)
		case <-tick.C:
		}
	}
}

// required skips a test on a laptop that lacks a tool, and fails it in CI.
func required(t testing.TB, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("CI requires %s: %v", tool, err)
	}
	t.Skipf("%s is not installed", tool)
	return ""
}
