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

	"devplatform/infra/platformtest"
)

// TestStop ends a platform under load with Ctrl-C: within 5 s, no request half answered, no child left.
func TestStop(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	c.SignUp("stopper")
	c.Do("GET", "/api/auth/me", "").Want(t, http.StatusOK)
	children := p.Children()
	if len(children) == 0 {
		t.Fatal("no function is running")
	}
	if took := p.Interrupt(5 * time.Second); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if code := p.Command.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	for _, pid := range children {
		platformtest.Eventually(t, fmt.Sprintf("child %d ends", pid), func() bool { return syscall.Kill(pid, 0) != nil })
	}
}

// TestKilled takes the platform away as a power cut would while clients sign up: whoever got an answer can log in
// afterwards, no child outlives it, and it starts on the same data.
func TestKilled(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	var (
		mu           sync.Mutex
		acknowledged []string
		group        sync.WaitGroup
	)
	for worker := range 4 {
		group.Go(func() {
			c := platformtest.NewClient(t, p.URL)
			for i := 0; ; i++ {
				name := fmt.Sprintf("w%d-%d", worker, i)
				a, err := c.Try("POST", "/api/auth/signup", `{"email":"`+name+`@example.com","username":"`+name+`","password":"correct horse battery"}`)
				if err != nil || a.Status != http.StatusCreated {
					return
				}
				mu.Lock()
				acknowledged = append(acknowledged, name)
				mu.Unlock()
			}
		})
	}
	platformtest.Eventually(t, "20 sign-ups are acknowledged", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(acknowledged) >= 20
	})
	children := p.Children()
	p.Kill()
	group.Wait()
	for _, pid := range children {
		platformtest.Eventually(t, fmt.Sprintf("child %d ends", pid), func() bool { return syscall.Kill(pid, 0) != nil })
	}

	again := platformtest.StartIn(t, p.Dir)
	for _, name := range acknowledged {
		c := platformtest.NewClient(t, again.URL)
		c.Login(name).Want(t, http.StatusOK)
		c.Do("GET", "/api/auth/me", "").Want(t, http.StatusOK)
	}
}

// TestSessionSurvivesRestarts keeps data and keys: a session made before a stop is good after it, however often the
// platform is stopped, also when nothing was written in between.
func TestSessionSurvivesRestarts(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	c.SignUp("keeper")
	for range 4 {
		p.Interrupt(5 * time.Second)
		p = platformtest.StartIn(t, p.Dir)
	}
	c.Base = p.URL
	c.Do("GET", "/api/auth/me", "").Want(t, http.StatusOK)
}

// TestCrashedInstance kills every instance of the function: requests that one of them held are a 502 in the
// contract's shape at most, and the next ones are answered by new instances.
func TestCrashedInstance(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	c.SignUp("crasher")
	for _, pid := range p.Children() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	platformtest.Eventually(t, "new instances answer", func() bool {
		a := c.Do("GET", "/api/auth/me", "")
		if a.Status != http.StatusOK {
			a.WantError(t, http.StatusBadGateway, "INTERNAL_ERROR")
		}
		return a.Status == http.StatusOK
	})
}

// TestSideBySide runs two platforms with folders of their own: neither knows the other's users.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	one, two := platformtest.Start(t), platformtest.Start(t)
	platformtest.NewClient(t, one.URL).SignUp("only-in-one")
	platformtest.NewClient(t, two.URL).Login("only-in-one").WantError(t, http.StatusUnauthorized, "AUTH_INVALID_CREDENTIALS")
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
			command := platformtest.Command(t, tc.dir, tc.env...)
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
	p := platformtest.Start(t)
	for _, pattern := range []string{"secrets/*", "tls/*"} {
		files, err := filepath.Glob(filepath.Join(p.Dir, pattern))
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
