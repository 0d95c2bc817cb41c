package platformtest

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/process"
)

// Platform is a running local platform.
type Platform struct {
	*process.Process

	Dir string // the data folder
	t   testing.TB
}

// Command returns the command that runs the platform on free ports with its data in dir. It has the settings of
// `make run`, which the variables in env ("NAME=value") extend and override.
func Command(t testing.TB, dir string, env ...string) *exec.Cmd {
	t.Helper()
	return process.Command(options(t, dir, env))
}

func options(t testing.TB, dir string, env []string) process.Options {
	t.Helper()
	env = append([]string{"LOG_LEVEL=debug"}, env...)
	return process.Options{Binaries: Binaries(t), WorkDir: Root, Dir: dir, Env: env}
}

// Start runs a platform with a new data folder until the test ends. A secret in its log fails the test (see Secret).
func Start(t testing.TB, env ...string) *Platform {
	t.Helper()
	return StartIn(t, t.TempDir(), env...)
}

// StartIn does the same as Start with an existing data folder.
func StartIn(t testing.TB, dir string, env ...string) *Platform {
	t.Helper()
	addEnvSecrets(env)
	started, err := process.Start(t.Context(), options(t, dir, env))
	if err != nil {
		t.Fatal(err)
	}
	p := &Platform{Process: started, Dir: dir, t: t}
	t.Cleanup(func() {
		p.Kill()
		addStoredSecrets(dir)
		for _, leak := range leaks(p.Log.String()) {
			t.Errorf("the platform's log contains a secret: %s", leak)
		}
		if t.Failed() {
			t.Logf("the platform's warnings:\n%s\nthe end of its log:\n%s", p.Log.Warnings(4000), p.Log.Tail(4000))
		}
	})
	return p
}

// Interrupt sends SIGINT, waits until the process has ended, and returns how long that took. within is the time limit:
// if the process still runs after it, the test fails.
func (p *Platform) Interrupt(within time.Duration) time.Duration {
	p.t.Helper()
	begin := time.Now() //nolint:forbidigo // the other process uses the real clock
	if !p.End(syscall.SIGINT, within) {
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
	output, err := exec.Command(pgrep, "-P", strconv.Itoa(pid)).Output() //nolint:noctx // it ends at once
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
