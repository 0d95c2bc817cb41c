package soak

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"devplatform/infra/platformtest"
	"devplatform/infra/process"
	"devplatform/infra/testmode"
)

// platform is a running platform whose processes report how much memory and how many goroutines they have.
type platform struct {
	url, dir string
	pid      int

	mu     sync.Mutex
	probes map[int]probe
	names  map[int]string // of functions by process id, as the log has them
	errors []string       // lines of the log at level ERROR
	tail   []string       // the last lines of the log
}

// probe is the state of a process after a garbage collection.
type probe struct {
	goroutines int
	heap       int64
}

// binaries is the folder of the binaries that build writes. TestMain creates and removes it.
var binaries string

// build builds the platform and the functions once, with the probe, and with small buffers in the stores. The
// binaries do not use the race detector, because it needs many times the memory.
var build = sync.OnceValue(func() error {
	root, err := filepath.Abs(platformtest.Root)
	if err != nil {
		return err
	}
	mains, err := filepath.Glob(filepath.Join(root, "functions/*/function.go"))
	if err != nil {
		return err
	}
	replace := map[string]string{}
	for _, name := range append(mains, filepath.Join(root, "infra/local/main.go")) {
		replace[filepath.Join(filepath.Dir(name), "soak_probe.go")] = filepath.Join(root, "infra/soak/probe/probe.go.txt")
	}
	const settings = "infra/local/datafolder/datafolder.go"
	if replace[filepath.Join(root, settings)], err = writeSmallBuffers(filepath.Join(root, settings)); err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	overlay := filepath.Join(binaries, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return err
	}
	return process.Build(context.Background(), platformtest.Root,
		"-overlay", overlay, "-o", binaries+"/", "./infra/local", "./functions/...")
})

// writeSmallBuffers writes a copy of the source file of the stores' settings, and returns its path. In the copy, the
// buffers are so small that they are full after the first round. Buffers that grow in the heap would hide a leak.
func writeSmallBuffers(source string) (path string, err error) {
	text, err := os.ReadFile(source)
	if err != nil {
		return "", err
	}
	for large, small := range map[string]string{
		"memTableBytes   = 8 << 20":  "memTableBytes   = 512 << 10",
		"blockCacheBytes = 32 << 20": "blockCacheBytes = 1 << 20",
	} {
		if !bytes.Contains(text, []byte(large)) {
			return "", fmt.Errorf("%s does not contain %q", source, large)
		}
		text = bytes.Replace(text, []byte(large), []byte(small), 1)
	}
	path = filepath.Join(binaries, "datafolder.go")
	return path, os.WriteFile(path, text, 0o600)
}

func TestMain(m *testing.M) {
	var err error
	if binaries, err = os.MkdirTemp("", "soak-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(binaries)
	os.Exit(code)
}

// start runs the platform until the test ends.
func start(t *testing.T, env ...string) *platform {
	t.Helper()
	testmode.SkipIfNotNightly(t)
	if err := platformtest.DependOnSources(); err != nil {
		t.Fatal(err)
	}
	if err := build(); err != nil {
		t.Fatal(err)
	}
	p := &platform{dir: t.TempDir(), probes: map[int]probe{}, names: map[int]string{}}
	command := process.Command(process.Options{Binaries: binaries, WorkDir: platformtest.Root, Dir: p.dir, Env: append([]string{
		"LIMIT_LOGIN_IP=1000000", "LIMIT_SIGNUP_IP=1000000", "LIMIT_LOGIN_PAIR=1000000", "LIMIT_AI_MINUTE=1000000",
		"LIMIT_AI_IN_PROGRESS=1000000", "AI_MONTHLY_TOKENS=1000000000", "AI_GLOBAL_MONTHLY_TOKENS=1000000000",
	}, env...)})
	log, write := io.Pipe()
	command.Stderr = write
	var reading sync.WaitGroup
	reading.Go(func() { p.read(log) })
	running, err := process.Run(t.Context(), command)
	if running == nil {
		t.Fatal(err)
	}
	p.pid, p.url = running.PID(), running.URL
	t.Cleanup(func() {
		running.Kill()
		_ = write.Close()
		reading.Wait()
		if t.Failed() {
			t.Logf("the end of the platform's log:\n%s", strings.Join(p.tail, "\n"))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// read reads the log: probes, errors, and the last lines.
func (p *platform) read(stderr io.Reader) {
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		p.mu.Lock()
		var pid int
		var state probe
		if at := strings.Index(line, "probe pid="); at >= 0 {
			if _, err := fmt.Sscanf(line[at:], "probe pid=%d goroutines=%d heap=%d", &pid, &state.goroutines, &state.heap); err == nil {
				p.probes[pid] = state
				if fields := strings.Fields(line[:at]); len(fields) > 2 {
					p.names[pid] = strings.TrimSuffix(fields[2], ":")
				}
			}
		}
		if strings.Contains(line, " ERR ") {
			p.errors = append(p.errors, line)
		}
		p.tail = append(p.tail, strings.TrimSpace(line))
		if len(p.tail) > 50 {
			p.tail = p.tail[len(p.tail)-50:]
		}
		p.mu.Unlock()
	}
}

// probeProcess makes a process report its state, and returns it. It reports false if the process has ended.
func (p *platform) probeProcess(t *testing.T, pid int) (probe, bool) {
	t.Helper()
	p.mu.Lock()
	delete(p.probes, pid)
	p.mu.Unlock()
	if syscall.Kill(pid, syscall.SIGUSR1) != nil {
		return probe{}, false
	}
	var state probe
	platformtest.EventuallyWithin(t, patience, "a probe of a process", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		found := false
		state, found = p.probes[pid]
		return found || syscall.Kill(pid, 0) != nil
	})
	return state, state.goroutines > 0
}

// onDisk returns the size of the data folder in bytes.
func (p *platform) onDisk() (bytes int64) {
	_ = filepath.Walk(p.dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil // a file may have been removed in the meantime
	})
	return bytes
}
