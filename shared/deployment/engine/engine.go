// Package engine runs JavaScript programs in an interpreter, QuickJS, without files, network, environment, a clock, or
// random numbers that differ between runs. It is for the compilers of builds, and for the configurations of projects
// that they evaluate. It must not depend on the programs.
package engine

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/go-sourcemap/sourcemap"
	"modernc.org/quickjs"

	"devplatform/shared/async"
)

// The limits of an engine.
const (
	maxMemory = 256 << 20
	// maxStack is the number of nested calls. The stack of the goroutine is large enough for them.
	maxStack = 5000
	// minGarbage is the memory below which cycles of objects are not collected.
	minGarbage = 64 << 20
	// watchPeriod is the time between two checks of the time limit.
	watchPeriod = 10 * time.Millisecond
)

// The errors of programs that reach a limit.
var (
	ErrTime    = errors.New("engine: the program takes too long")
	ErrMemory  = errors.New("engine: the program needs too much memory")
	ErrNesting = errors.New("engine: the calls of the program are nested too deeply")
)

// options are the options for the values of programs. Their texts can be invalid UTF-8 and contain single surrogates,
// and the names of fields in Go begin with an upper-case letter.
var options = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true),
	json.MatchCaseInsensitiveNames(true))

// Error is an exception that a program throws.
type Error struct {
	Message string // with the name of the error, such as "TypeError: not a function"
	// File, Line and Column are the place in the source of the innermost program that has a source map. File is "" if
	// there is none.
	File         string
	Line, Column int
}

func (e *Error) Error() string { return e.Message }

// Engine is an interpreter with its own global objects. It is not safe for concurrent use. If a program reaches the
// limit of time, every later call fails.
type Engine struct {
	vm       *quickjs.VM
	clock    stopwatch
	closed   chan struct{}
	lines    int // number of lines of all programs
	programs []program
}

// program is a program whose code begins after a number of lines. sources is nil if it has no source map.
type program struct {
	offset  int
	sources *sourcemap.Consumer
}

//go:embed prelude.js
var prelude string

// New returns an engine whose programs can use an amount of processor time together. The caller must call Close.
func New(limit time.Duration) (*Engine, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	vm.SetMemoryLimit(maxMemory)
	vm.SetMaxStackSize(maxStack)
	vm.SetGCThreshold(minGarbage)
	vm.SetCanBlock(false)
	e := &Engine{vm: vm, clock: stopwatch{limit: limit}, closed: make(chan struct{})}
	async.Go(e.watch, func(error) {})
	if err := e.Load(prelude, nil); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// watch stops all programs after the time limit. It does so again and again, because an interrupt has no effect between
// two calls of the interpreter.
func (e *Engine) watch() error {
	ticks := time.NewTicker(watchPeriod)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			if e.clock.isExpired() {
				e.vm.Interrupt()
			}
		case <-e.closed:
			return nil
		}
	}
}

// Reset gives the programs the whole time again, unless they have reached the limit.
func (e *Engine) Reset() {
	if !e.clock.isExpired() {
		e.clock.used.Store(0)
	}
}

// Close releases the memory of the engine.
func (e *Engine) Close() {
	close(e.closed)
	_ = e.vm.Close()
}

// Register makes a Go function a global function of the programs. Its error is thrown as an exception.
func (e *Engine) Register(name string, f func(arguments []string) (string, error)) error {
	err := e.vm.RegisterHostFunc(name, func(values []any) (any, error) {
		texts := make([]string, len(values))
		for i, value := range values {
			texts[i], _ = value.(string)
		}
		return f(texts)
	})
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	return nil
}

// Load runs a program. Its source map, which can be nil, is used for the places of errors. Errors: the errors of
// Call.
func (e *Engine) Load(code string, sourceMap []byte) error {
	p := program{offset: e.lines}
	if sourceMap != nil {
		sources, err := sourcemap.Parse("", sourceMap)
		if err != nil {
			return fmt.Errorf("engine: %w", err)
		}
		p.sources = sources
	}
	e.programs = append(e.programs, p)
	// The interpreter gives all programs the same name, so their lines tell them apart.
	code = strings.Repeat("\n", e.lines) + code
	e.lines += strings.Count(code[e.lines:], "\n") + 1
	return e.run(func() (quickjs.Value, error) { return e.vm.EvalValue(code, quickjs.EvalGlobal) })
}

// run runs a program. Errors: the errors of Call.
func (e *Engine) run(evaluate func() (quickjs.Value, error)) error {
	defer e.clock.start()()
	if e.clock.isExpired() {
		return ErrTime
	}
	value, err := evaluate()
	if err != nil {
		return e.failure(err)
	}
	value.Free()
	return nil
}

// Call calls a global function of a program with a JSON value, waits for its promise, and stores the result in out.
// Errors: *Error, ErrTime, ErrMemory, ErrNesting.
func (e *Engine) Call(function string, in, out any) error {
	input, err := json.Marshal(in, options)
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	defer e.clock.start()()
	if e.clock.isExpired() {
		return ErrTime
	}
	promise, err := e.vm.CallValue("input => callJSON("+function+", input)", string(input))
	if err != nil {
		return e.failure(err)
	}
	defer promise.Free()
	var result any
	isSettled := false
	then, err := promise.Then(func(v quickjs.Value) { result, err = v.Any(); isSettled = true },
		func(v quickjs.Value) { err = quickjs.ErrorFromValue(v); isSettled = true })
	if err != nil {
		return e.failure(err)
	}
	defer then.Free()
	for !isSettled {
		n, failed := e.vm.ExecutePendingJobs()
		switch {
		case e.clock.isExpired():
			return ErrTime
		case n == 0 && !isSettled && failed != nil:
			return e.failure(failed)
		case n == 0 && !isSettled:
			return &Error{Message: "a promise is never settled"}
		}
	}
	text, isText := result.(string)
	switch {
	case err != nil:
		return e.failure(err)
	case !isText:
		return &Error{Message: "the result is not a JSON value"}
	}
	if json.Unmarshal([]byte(text), out, options) != nil { // programs can change what JSON.stringify and promises do
		return &Error{Message: "the result does not have the expected form"}
	}
	return nil
}

// frame matches the place of a call in a stack trace.
var frame = regexp.MustCompile(`<eval>:(\d+):(\d+)`)

// failure returns the error for an exception.
func (e *Engine) failure(err error) error {
	thrown, isThrown := errors.AsType[*quickjs.Error](err)
	switch {
	case e.clock.isExpired():
		return ErrTime
	case !isThrown, thrown.Name == "InternalError" && thrown.Message == "out of memory":
		return ErrMemory // all other errors are failed allocations
	case thrown.Message == "stack overflow":
		return ErrNesting
	}
	f := &Error{Message: thrown.Error()}
	for _, m := range frame.FindAllStringSubmatch(thrown.Stack, -1) {
		line, _ := strconv.Atoi(m[1])
		column, _ := strconv.Atoi(m[2])
		if e.setPosition(f, line, column) {
			break
		}
	}
	return f
}

// setPosition sets the position of an error in the sources, and reports whether the program with the line has a source
// map that contains it.
func (e *Engine) setPosition(f *Error, line, column int) bool {
	for i := len(e.programs) - 1; i >= 0; i-- {
		p := e.programs[i]
		if line <= p.offset {
			continue
		}
		if p.sources == nil {
			return false
		}
		file, _, sourceLine, sourceColumn, ok := p.sources.Source(line-p.offset, column-1)
		f.File, f.Line, f.Column = file, sourceLine, sourceColumn+1
		return ok
	}
	return false
}
