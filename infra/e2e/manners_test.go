package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestStop ends a platform under load with Ctrl-C: within 5 s, no request half answered, no child left.
func TestStop(t *testing.T) {
	t.Parallel()
	p := start(t)
	c := newClient(t, p.url)
	c.signUp("stopper")
	c.do("GET", "/api/auth/me", "").want(t, http.StatusOK)
	children := childrenOf(t, p.command.Process.Pid)
	if len(children) == 0 {
		t.Fatal("no function is running")
	}
	if took := p.interrupt(5 * time.Second); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if code := p.command.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	for _, pid := range children {
		eventually(t, fmt.Sprintf("child %d ends", pid), func() bool { return syscall.Kill(pid, 0) != nil })
	}
}

// TestKilled takes the platform away as a power cut would while clients sign up: whoever got an answer can log in
// afterwards, no child outlives it, and it starts on the same data.
func TestKilled(t *testing.T) {
	t.Parallel()
	p := start(t)
	var (
		mu           sync.Mutex
		acknowledged []string
		group        sync.WaitGroup
	)
	for worker := range 4 {
		group.Go(func() {
			c := newClient(t, p.url)
			for i := 0; ; i++ {
				name := fmt.Sprintf("w%d-%d", worker, i)
				a, err := c.try("POST", "/api/auth/signup", `{"email":"`+name+`@example.com","username":"`+name+`","password":"correct horse battery"}`)
				if err != nil || a.status != http.StatusCreated {
					return
				}
				mu.Lock()
				acknowledged = append(acknowledged, name)
				mu.Unlock()
			}
		})
	}
	eventually(t, "20 sign-ups are acknowledged", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(acknowledged) >= 20
	})
	children := childrenOf(t, p.command.Process.Pid)
	p.kill()
	group.Wait()
	for _, pid := range children {
		eventually(t, fmt.Sprintf("child %d ends", pid), func() bool { return syscall.Kill(pid, 0) != nil })
	}

	again := startIn(t, p.dir)
	for _, name := range acknowledged {
		c := newClient(t, again.url)
		c.login(name).want(t, http.StatusOK)
		c.do("GET", "/api/auth/me", "").want(t, http.StatusOK)
	}
}

// TestSessionSurvivesRestarts keeps data and keys: a session made before a stop is good after it, however often the
// platform is stopped, also when nothing was written in between.
func TestSessionSurvivesRestarts(t *testing.T) {
	t.Parallel()
	p := start(t)
	c := newClient(t, p.url)
	c.signUp("keeper")
	for range 4 {
		p.interrupt(5 * time.Second)
		p = startIn(t, p.dir)
	}
	c.base = p.url
	c.do("GET", "/api/auth/me", "").want(t, http.StatusOK)
}

// TestCrashedInstance kills every instance of the function: requests that one of them held are a 502 in the
// contract's shape at most, and the next ones are answered by new instances.
func TestCrashedInstance(t *testing.T) {
	t.Parallel()
	p := start(t)
	c := newClient(t, p.url)
	c.signUp("crasher")
	for _, pid := range childrenOf(t, p.command.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	eventually(t, "new instances answer", func() bool {
		a := c.do("GET", "/api/auth/me", "")
		if a.status != http.StatusOK {
			a.wantError(t, http.StatusBadGateway, "INTERNAL_ERROR")
		}
		return a.status == http.StatusOK
	})
}

// TestSideBySide runs two platforms with folders of their own: neither knows the other's users.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	one, two := start(t), start(t)
	newClient(t, one.url).signUp("only-in-one")
	newClient(t, two.url).login("only-in-one").wantError(t, http.StatusUnauthorized, "AUTH_INVALID_CREDENTIALS")
}

// TestRefusals are the ways in which a platform does not start: one line that says what to do, status 1, data untouched.
func TestRefusals(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = busy.Close() })
	port := strconv.Itoa(busy.Addr().(*net.TCPAddr).Port)
	foreign := t.TempDir()
	write(t, filepath.Join(foreign, "dynamodb", "notes.txt"), "somebody's own file")
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "not a folder")
	corrupt := t.TempDir()
	write(t, filepath.Join(corrupt, "secrets", "secrets.json"), "{not json")

	for name, tc := range map[string]struct {
		dir  string
		env  []string
		says []string
	}{
		"taken port":      {t.TempDir(), []string{"PORT=" + port}, []string{"port " + port, "PORT"}},
		"taken AWS port":  {t.TempDir(), []string{"AWS_PORT=" + port}, []string{"port " + port, "AWS_PORT"}},
		"bad port":        {t.TempDir(), []string{"PORT=70000"}, []string{"PORT=70000"}},
		"data in a file":  {file, nil, []string{"DATA_DIR", file}},
		"foreign data":    {foreign, nil, []string{filepath.Join(foreign, "dynamodb")}},
		"corrupt secrets": {corrupt, nil, []string{filepath.Join(corrupt, "secrets")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := snapshot(t, tc.dir, "dynamodb", "secrets")
			command := newCommand(t, tc.dir, tc.env...)
			var stderr bytes.Buffer
			command.Stderr = &stderr
			err := command.Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Fatalf("ended with %v, want exit status 1; stderr: %s", err, &stderr)
			}
			line := strings.TrimSpace(stderr.String())
			if strings.Contains(line, "\n") {
				t.Errorf("more than one line:\n%s", line)
			}
			for _, want := range tc.says {
				if !strings.Contains(line, want) {
					t.Errorf("%q does not name %q", line, want)
				}
			}
			if after := snapshot(t, tc.dir, "dynamodb", "secrets"); name != "taken port" && before != "" && after != before {
				t.Errorf("the data was touched:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

// TestDataIsPrivate checks the modes of what holds secrets.
func TestDataIsPrivate(t *testing.T) {
	t.Parallel()
	p := start(t)
	for _, pattern := range []string{"secrets/*", "tls/*"} {
		files, err := filepath.Glob(filepath.Join(p.dir, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v %v", pattern, files, err)
		}
		for _, file := range files {
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if mode := info.Mode().Perm(); !info.IsDir() && mode != 0o600 {
				t.Errorf("%s has mode %o", file, mode)
			}
		}
	}
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// snapshot is every file below the folders with its content.
func snapshot(t testing.TB, dir string, folders ...string) string {
	t.Helper()
	var all strings.Builder
	for _, folder := range folders {
		_ = filepath.WalkDir(filepath.Join(dir, folder), func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				content, _ := os.ReadFile(path)
				fmt.Fprintf(&all, "%s %q\n", path, content)
			}
			return nil
		})
	}
	return all.String()
}

// childrenOf lists the running children of a process.
func childrenOf(t testing.TB, pid int) []int {
	t.Helper()
	output, err := exec.Command(required(t, "pgrep"), "-P", strconv.Itoa(pid)).Output()
	if err != nil { // no process matched
		return nil
	}
	var children []int
	for _, field := range strings.Fields(string(output)) {
		if child, err := strconv.Atoi(field); err == nil {
			children = append(children, child)
		}
	}
	return children
}
