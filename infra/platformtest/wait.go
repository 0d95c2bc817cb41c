package platformtest

import (
	"bytes"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// Log is what a process writes while a test reads.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf.Write(p) // a buffer takes everything
	return len(p), nil
}

// String is all of it.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// Tail is the end of it, n bytes at most.
func (l *Log) Tail(n int) string {
	s := l.String()
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}

// Eventually waits until a condition holds, 20 s at most; what says what was waited for.
func Eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	EventuallyWithin(t, 20*time.Second, what, condition)
}

// EventuallyWithin is [Eventually] for what may take longer.
func EventuallyWithin(t testing.TB, limit time.Duration, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline:
			t.Fatalf("waited %v in vain: %s", limit, what)
		case <-tick.C:
		}
	}
}

// Required is where a tool is. It skips a test on a laptop that lacks the tool, and fails it in CI.
func Required(t testing.TB, tool string) string {
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
