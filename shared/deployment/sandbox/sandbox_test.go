package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"devplatform/infra/testmode"
)

// probe is the input of the program of the tests.
type probe struct {
	Do     string
	Path   string
	Parent int
}

type found struct{ Text string }

func init() { Register("probe", probe.run) }

var sink any

func (p probe) run() (found, [][]byte, error) {
	switch p.Do {
	case "environment":
		return found{fmt.Sprint(os.Environ(), filepath.Base(os.Getenv("PWD")))}, nil, nil
	case "read":
		data, err := os.ReadFile(p.Path)
		return found{fmt.Sprint(string(data), err)}, nil, nil
	case "parent":
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.Parent))
		return found{fmt.Sprint(string(data), err)}, nil, nil
	case "heap":
		all := [][]byte{}
		for {
			all = append(all, bytes.Repeat([]byte("x"), 10<<20))
			sink = all
		}
	case "block":
		sink = make([]byte, 2<<30)
	case "stack":
		return found{strconv.Itoa(recurse(1))}, nil, nil
	case "spin":
		for {
			sink = time.Now()
		}
	case "create":
		return found{fmt.Sprint(os.WriteFile("other", nil, 0o600))}, nil, nil
	case "open":
		_, err := os.OpenFile(p.Path, os.O_WRONLY, 0)
		return found{fmt.Sprint(err)}, nil, nil
	case "limit":
		var limit syscall.Rlimit
		err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit)
		return found{fmt.Sprint(limit, err)}, nil, nil
	case "data":
		return found{"line"}, [][]byte{[]byte("a\n"), []byte("b")}, nil
	case "start":
		return found{fmt.Sprint(exec.Command("/proc/self/exe").Start())}, nil, nil
	case "collector": // ends as the runtime does if its garbage collector gets no memory
		fmt.Fprint(os.Stderr, "SIGSEGV: segmentation violation\nPC=0x43425d m=4 sigcode=1 addr=0x0\n\ngoroutine 0 gp=0x28")
		os.Exit(2)
	case "nil":
		var p *probe
		return found{p.Do}, nil, nil
	case "error":
		return found{}, nil, errors.New("cannot")
	case "goroutine":
		go func() { panic("in a goroutine") }()
		select {}
	case "exit":
		os.Exit(9)
	case "result":
		return found{strings.Repeat("x", maxResult+1)}, nil, nil
	}
	return found{p.Do}, nil, nil
}

//go:noinline
func recurse(n int) int {
	if n < 0 {
		return n
	}
	return recurse(n+1) + n
}

// run runs the program of the tests, and checks that no process of its group is left.
func run(ctx context.Context, t *testing.T, in probe) (string, *Process, error) {
	t.Helper()
	p, err := Start("probe", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := os.WriteFile(filepath.Join(p.command.Dir, "input"), []byte("input"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out found
	data, err := p.Run(ctx, in, &out)
	if left := syscall.Kill(-p.command.Process.Pid, 0); !errors.Is(left, syscall.ESRCH) {
		t.Errorf("a process of the group is left: %v", left)
	}
	return out.Text + string(data), p, err
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for do, want := range map[string]error{
		"heap": ErrMemory, "block": ErrMemory, "stack": ErrNesting, "collector": ErrMemory,
		"nil": ErrProgram, "error": ErrProgram, "goroutine": ErrProgram, "exit": nil, "result": nil,
	} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			if testmode.HasRaceDetector && want != nil {
				t.Skip("the race detector ends the process when memory is used up")
			}
			text, p, err := run(t.Context(), t, probe{Do: do})
			isOther := want == nil && (errors.Is(err, ErrMemory) || errors.Is(err, ErrProgram))
			if err == nil || isOther || want != nil && !errors.Is(err, want) {
				t.Errorf("got %.100q and the error %v, want %v", text, err, want)
			}
			usage, ok := p.command.ProcessState.SysUsage().(*syscall.Rusage)
			if !testmode.HasRaceDetector && (!ok || usage.Maxrss > 1<<20) { // in KiB
				t.Errorf("the process used %d KiB", usage.Maxrss)
			}
		})
	}
}

// When the context ends, the process is killed.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Start("probe", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	go func() { // cancel when the process has used processor time for 100 ms
		defer cancel()
		for ctx.Err() == nil {
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
			fields := strings.Fields(string(stat))
			if ticks, _ := strconv.Atoi(fields[13]); ticks >= 10 {
				return
			}
		}
	}()
	if _, err := p.Run(ctx, probe{Do: "spin"}, new(found)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left := syscall.Kill(-p.command.Process.Pid, 0); !errors.Is(left, syscall.ESRCH) {
		t.Errorf("a process of the group is left: %v", left)
	}
}

// A process that never receives an input ends with Close.
func TestClose(t *testing.T) {
	t.Parallel()
	p, err := Start("probe", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if left := syscall.Kill(-p.command.Process.Pid, 0); !errors.Is(left, syscall.ESRCH) {
		t.Errorf("the process is left: %v", left)
	}
}

func TestEnvironmentIsEmpty(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "canary")
	text, _, err := run(t.Context(), t, probe{Do: "environment"})
	if err != nil || strings.Contains(text, "canary") || strings.Contains(text, "=") {
		t.Errorf("got the environment %s, error %v", text, err)
	}
}

// Where the kernel has Landlock, the process can read only files of its folder, and start no other program.
func TestFolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has Landlock")
	}
	if _, _, e := syscall.Syscall(444, 0, 0, 1); e != 0 { // landlock_create_ruleset
		t.Skip("the kernel has no Landlock")
	}
	for in, want := range map[probe]string{
		{Do: "read", Path: "/etc/passwd"}: "permission denied",
		{Do: "read", Path: "missing"}:     "no such file",
		{Do: "read", Path: "input"}:       "input",
		{Do: "start"}:                     "permission denied",
		{Do: "create"}:                    "permission denied",
		{Do: "open", Path: "input"}:       "permission denied",
	} {
		text, _, err := run(t.Context(), t, in)
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%v: got %q, error %v", in, text, err)
		}
	}
}

func TestData(t *testing.T) {
	t.Parallel()
	text, _, err := run(t.Context(), t, probe{Do: "data"})
	if err != nil || text != "linea\nb" {
		t.Errorf("got %q, error %v", text, err)
	}
}

// No file can be written, even where the kernel has no Landlock.
func TestFileSize(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux enforces the limits")
	}
	text, _, err := run(t.Context(), t, probe{Do: "limit"})
	if err != nil || text != "{0 0} <nil>" {
		t.Errorf("got %q, error %v", text, err)
	}
}

// TestParentIsHidden checks that a process of the same user cannot read the environment of a process that has started a
// sandbox. Root can, so the test continues as another user.
func TestParentIsHidden(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	const nobody = 65534
	if os.Getuid() == 0 {
		command := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestParentIsHidden$", "-test.v")
		command.Dir, command.Env = "/", append(os.Environ(), "TMPDIR=/tmp")
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		if out, err := command.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS")) {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	read := func() string {
		out, _ := exec.CommandContext(t.Context(), "cat", fmt.Sprintf("/proc/%d/environ", os.Getpid())).CombinedOutput()
		return string(out)
	}
	if before := read(); !strings.Contains(before, "PATH=") {
		t.Fatalf("got %q before the first sandbox, want the environment", before)
	}
	text, _, err := run(t.Context(), t, probe{Do: "parent", Parent: os.Getpid()})
	if err != nil || strings.Contains(text, "PATH=") {
		t.Errorf("got %q, error %v", text, err)
	}
	if after := read(); strings.Contains(after, "PATH=") {
		t.Errorf("a process without a sandbox reads %q", after)
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		p, err := Start("probe", b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Run(b.Context(), probe{Do: "nothing"}, new(found)); err != nil {
			b.Error(err)
		}
		p.Close()
	}
}
