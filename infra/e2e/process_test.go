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

// TestInterrupt sends SIGINT to a platform. It and the functions end within 5 s, with exit status 0.
func TestInterrupt(t *testing.T) {
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
		t.Errorf("the platform ended after %v, want at most 5 s", took)
	}
	if code := p.Command.ProcessState.ExitCode(); code != 0 {
		t.Errorf("got exit status %d, want 0", code)
	}
	for _, pid := range children {
		platformtest.Eventually(t, fmt.Sprintf("child %d ends", pid), func() bool { return syscall.Kill(pid, 0) != nil })
	}
}

// TestKill kills the platform while clients sign up. The functions end, too. After a restart with the same data, every
// user whose sign-up succeeded can log in.
func TestKill(t *testing.T) {
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
				body := platformtest.Object{
					"email": name + "@example.com", "username": name, "password": platformtest.Password,
				}
				response, err := c.Try("POST", "/api/auth/signup", body.String())
				if err != nil || response.Status != http.StatusCreated {
					return
				}
				mu.Lock()
				acknowledged = append(acknowledged, name)
				mu.Unlock()
			}
		})
	}
	platformtest.Eventually(t, "20 sign-ups succeeded", func() bool {
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

	restarted := platformtest.StartIn(t, p.Dir)
	for _, name := range acknowledged {
		c := platformtest.NewClient(t, restarted.URL)
		c.Login(name).Want(t, http.StatusOK)
		c.Do("GET", "/api/auth/me", "").Want(t, http.StatusOK)
	}
}

// TestSessionSurvivesRestarts checks that a session remains valid after several restarts, because the platform keeps
// its data and its keys.
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

// TestCrashedInstance kills all instances of the functions. Requests may fail with a 502 INTERNAL_ERROR, until new
// instances handle them.
func TestCrashedInstance(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	c.SignUp("crasher")
	for _, pid := range p.Children() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	platformtest.Eventually(t, "a new instance handles a request", func() bool {
		response := c.Do("GET", "/api/auth/me", "")
		if response.Status != http.StatusOK {
			response.WantError(t, http.StatusBadGateway, "INTERNAL_ERROR")
		}
		return response.Status == http.StatusOK
	})
}

// TestPlatformsAreSeparate runs two platforms with different folders. A user of one does not exist in the other.
func TestPlatformsAreSeparate(t *testing.T) {
	t.Parallel()
	first, second := platformtest.Start(t), platformtest.Start(t)
	platformtest.NewClient(t, first.URL).SignUp("ada")
	platformtest.NewClient(t, second.URL).Login("ada").WantError(t, http.StatusUnauthorized, "AUTH_INVALID_CREDENTIALS")
}

// TestStartErrors checks that a platform that cannot start writes one line with the cause, exits with status 1, and
// does not change its data.
func TestStartErrors(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	unknownFiles := t.TempDir()
	write(t, filepath.Join(unknownFiles, "data", "notes.txt"), "not a file of the platform")
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "not a folder")
	otherVersion := t.TempDir()
	write(t, filepath.Join(otherVersion, "data", "FORMAT"), "devplatform local data 1")

	for name, tc := range map[string]struct {
		dir  string
		env  []string
		want []string // texts in the error
	}{
		"port in use":           {t.TempDir(), []string{"PORT=" + port}, []string{"port " + port, "PORT"}},
		"AWS port in use":       {t.TempDir(), []string{"AWS_PORT=" + port}, []string{"port " + port, "AWS_PORT"}},
		"sites port in use":     {t.TempDir(), []string{"SITES_PORT=" + port}, []string{"port " + port, "SITES_PORT"}},
		"console port in use":   {t.TempDir(), []string{"CONSOLE_PORT=" + port}, []string{"port " + port, "CONSOLE_PORT"}},
		"invalid origin":        {t.TempDir(), []string{"APP_URL=example.com"}, []string{"APP_URL=example.com"}},
		"invalid port":          {t.TempDir(), []string{"PORT=70000"}, []string{"PORT=70000"}},
		"data folder is a file": {file, nil, []string{"DATA_DIR", file}},
		"unknown files":         {unknownFiles, nil, []string{filepath.Join(unknownFiles, "data")}},
		"other version":         {otherVersion, nil, []string{filepath.Join(otherVersion, "data"), "delete the folder"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := snapshot(filepath.Join(tc.dir, "data"))
			command := platformtest.Command(t, tc.dir, append(tc.env, "LOG_LEVEL=info")...)
			var stderr bytes.Buffer
			command.Stderr = &stderr
			err := command.Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Fatalf("got error %v, want exit status 1; stderr: %s", err, &stderr)
			}
			line := strings.TrimSpace(stderr.String())
			if strings.Contains(line, "\n") {
				t.Errorf("got more than one line on stderr:\n%s", line)
			}
			for _, want := range tc.want {
				if !strings.Contains(line, want) {
					t.Errorf("got error %q, want it to contain %q", line, want)
				}
			}
			if after := snapshot(filepath.Join(tc.dir, "data")); before != "" && after != before {
				t.Errorf("the data changed to:\n%s\nfrom:\n%s", after, before)
			}
		})
	}
}

// TestInvalidSettingOfFunction checks that the platform exits before it is ready if a function cannot start. The last
// line on stderr names the function, the variable, and what to do.
func TestInvalidSettingOfFunction(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"OAUTH_PROVIDER=github":    "AuthFunction: cannot start: sign-in with a code host: OAUTH_CLIENT_ID is missing: set it to",
		"AI_PROVIDER=foo":          "AiFunction: cannot start: AI_PROVIDER=foo is not valid: use bedrock, openai or scaffold",
		"ALLOWED_ORIGINS=http://A": `DocsFunction: cannot start: ALLOWED_ORIGINS=http://A: "http://A" is not an origin`,
		"LIMIT_LOGIN_IP=many":      "AuthFunction: cannot start: LIMIT_LOGIN_IP=many: must be a whole number",
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			command := platformtest.Command(t, t.TempDir(), setting)
			var stdout, stderr bytes.Buffer
			command.Stdout, command.Stderr = &stdout, &stderr
			err := command.Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 || strings.Contains(stdout.String(), "ready") {
				t.Errorf("got error %v, want exit status 1; stdout: %s", err, &stdout)
			}
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("got %s, want %s", &stderr, want)
			}
		})
	}
}

// TestDataIsPrivate checks that only the owner can read the store, which contains secrets.
func TestDataIsPrivate(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	info, err := os.Stat(filepath.Join(p.Dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o700 {
		t.Errorf("the folder of the store has mode %o, want 700", mode)
	}
}

// write writes a file and creates its folder.
func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// snapshot returns the paths and contents of all files in a folder.
func snapshot(folder string) string {
	var all strings.Builder
	_ = filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			content, _ := os.ReadFile(path)
			fmt.Fprintf(&all, "%s %q\n", path, content)
		}
		return nil
	})
	return all.String()
}
