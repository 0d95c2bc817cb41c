// Package sandbox runs a part of this binary in a process of its own, with an empty environment, limits of memory, time
// and files, and a folder that it can only read. The package must not depend on that part.
//
// The process is the same binary under another name: its packages are initialized until Register finds the name, so
// that neither main nor the packages that import the registered part run.
package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/async"
)

// The errors of Run.
var (
	// ErrMemory means that the program needed more memory than its limit.
	ErrMemory = errors.New("sandbox: the program needs too much memory")
	// ErrNesting means that the program's recursion was too deep.
	ErrNesting = errors.New("sandbox: the program's recursion is too deep")
	// ErrCPU means that the program used more processor time than its limit.
	ErrCPU = errors.New("sandbox: the program used too much processor time")
	// ErrProgram means that the program panicked, or returned an error that is not an error of the file system. It would
	// do so again.
	ErrProgram = errors.New("sandbox: the program failed")
)

// options are the options for the input and the result. Nil stays nil. Invalid UTF-8 in a path becomes U+FFFD.
var options = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
	json.FormatNilSliceAsNull(true), json.FormatNilMapAsNull(true))

const (
	namePrefix = "sandbox:"
	// maxResult limits the result with its data, and maxTrace the part of the process's error output that is kept, both in
	// bytes.
	maxResult = 128 << 20
	maxTrace  = 4 << 10
	// resultFile is the file descriptor to which the process writes the result.
	resultFile = 3
	// The exit codes of the process. exitRuntime is the exit code of the Go runtime after a fatal error or a panic.
	exitRuntime = 2
	exitFailed  = 70
	exitMemory  = 71
	exitProgram = 72
)

// Register runs a program if this process was started for it, and ends the process. Otherwise it does nothing. Call it
// while the package of the program is initialized. The program's input is one JSON value. Its result is a value that is
// encoded as JSON, and data. Its working folder is the folder of the sandbox.
func Register[In, Out any](name string, program func(In) (out Out, data [][]byte, err error)) {
	if len(os.Args) == 0 || os.Args[0] != namePrefix+name {
		return
	}
	// Initialization runs on the main thread only, and goroutines that are bound to a thread are slow.
	done := make(chan error)
	async.Go(func() error { return serve(program) }, func(err error) { done <- err })
	if err := <-done; err != nil {
		fmt.Fprintln(os.Stderr, err)
		if errors.Is(err, ErrProgram) {
			os.Exit(exitProgram)
		}
		os.Exit(exitFailed)
	}
	os.Exit(0)
}

func serve[In, Out any](program func(In) (Out, [][]byte, error)) error {
	if err := restrict(); err != nil {
		return fmt.Errorf("set the limits: %w", err)
	}
	async.Go(watch, func(error) { os.Exit(exitFailed) })
	var in In
	if err := json.UnmarshalRead(os.Stdin, &in, options); err != nil {
		return fmt.Errorf("read the input: %w", err)
	}
	var out Out
	var data [][]byte
	err := async.Recover(func() (err error) {
		out, data, err = program(in)
		return err
	})
	if _, isFile := errors.AsType[*fs.PathError](err); isFile {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrProgram, err)
	}
	result := os.NewFile(resultFile, "result")
	err = json.MarshalEncode(jsontext.NewEncoder(result, options), out) // one line
	for i := 0; err == nil && i < len(data); i++ {
		_, err = result.Write(data[i])
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// Process is a program that was started.
type Process struct {
	command *exec.Cmd
	input   io.WriteCloser
	result  *os.File
	trace   limitedBuffer
}

// Start starts a registered program. The process waits for the input of Run, and can be started before its folder is
// complete. The caller must call Close.
func Start(name, dir string) (*Process, error) {
	path, err := executable()
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	hideMemory()
	result, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	defer func() { _ = write.Close() }()
	p := &Process{result: result}
	p.command = &exec.Cmd{
		Path: path, Args: []string{namePrefix + name}, Env: []string{}, Dir: dir, Stderr: &p.trace,
		ExtraFiles: []*os.File{write}, SysProcAttr: attributes(),
		WaitDelay: time.Second,
	}
	if p.input, err = p.command.StdinPipe(); err == nil {
		err = p.command.Start()
	}
	if err != nil {
		_ = result.Close()
		return nil, fmt.Errorf("sandbox: start a process: %w", err)
	}
	return p, nil
}

// Run sends the input to the program, waits for its end, stores its result in out, and returns the data that follows
// the result. When it returns, no process of the program's group is left. Errors: ErrMemory, ErrNesting, ErrCPU,
// ErrProgram; the error of ctx; any other error is transient or a bug.
func (p *Process) Run(ctx context.Context, in, out any) (data []byte, err error) {
	stop := async.WhenDone(ctx, p.kill)
	defer stop()
	sendErr := json.MarshalWrite(p.input, in, options)
	_ = p.input.Close()
	// The result ends when the process ends, because only the process has the other end of the pipe.
	result, readErr := io.ReadAll(io.LimitReader(p.result, maxResult+1))
	err = p.wait()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, p.cause(err)
	case len(result) > maxResult:
		return nil, errors.New("sandbox: the result is too large")
	case sendErr != nil || readErr != nil:
		return nil, fmt.Errorf("sandbox: %w", errors.Join(sendErr, readErr))
	}
	line, data, _ := bytes.Cut(result, []byte("\n"))
	if err := json.Unmarshal(line, out, options); err != nil {
		return nil, fmt.Errorf("sandbox: read the result: %w", err)
	}
	return data, nil
}

// Close ends the processes of the program's group, and waits for the program.
func (p *Process) Close() {
	if p.command.ProcessState == nil {
		_ = p.wait()
	}
	_ = p.input.Close()
	_ = p.result.Close()
}

// wait ends the group of the process. It must do that before it waits for the process: until then, no other process can
// have the number of the group. A process that has begun to exit keeps its exit code.
func (p *Process) wait() error {
	p.kill()
	return p.command.Wait()
}

// traces are the beginnings of the runtime's messages before it ends a process.
var traces = []struct {
	pattern *regexp.Regexp
	err     error
}{
	{regexp.MustCompile(`(?m)^(runtime: )?goroutine stack exceeds|^fatal error: stack overflow`), ErrNesting},
	{regexp.MustCompile(`(?m)^SIGXCPU`), ErrCPU},
	{regexp.MustCompile(`(?mi)^(runtime|runtime/cgo|fatal error): .*(memory|map pages|allocate|newosproc|OS thread|pthread_create)`), ErrMemory},
	// The garbage collector uses memory that it did not get. A fault of other code is a panic, with another message.
	{regexp.MustCompile(`(?m)^SIGSEGV: segmentation violation\nPC=.* addr=0x0$`), ErrMemory},
}

var panicTrace = regexp.MustCompile(`(?m)^panic: `)

// cause returns why a process ended.
func (p *Process) cause(err error) error {
	exit, isExit := errors.AsType[*exec.ExitError](err)
	if !isExit {
		return fmt.Errorf("sandbox: %w", err)
	}
	text := p.trace.String()
	switch exit.ExitCode() {
	case exitMemory:
		return ErrMemory
	case exitProgram:
		return fmt.Errorf("%w: %s", ErrProgram, strings.TrimSpace(text))
	case exitRuntime:
		for _, t := range traces {
			if t.pattern.MatchString(text) {
				return t.err
			}
		}
		if panicTrace.MatchString(text) { // in another goroutine
			return fmt.Errorf("%w: %s", ErrProgram, strings.TrimSpace(text))
		}
	case -1: // a signal: the kernel has ended the process
		if exit.UserTime()+exit.SystemTime() >= maxCPU {
			return ErrCPU
		}
		return ErrMemory
	}
	return fmt.Errorf("sandbox: %w: %s", err, strings.TrimSpace(text))
}

// limitedBuffer keeps the first bytes that are written to it.
type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(data []byte) (int, error) {
	_, _ = b.Buffer.Write(data[:min(len(data), maxTrace-min(maxTrace, b.Len()))])
	return len(data), nil
}
