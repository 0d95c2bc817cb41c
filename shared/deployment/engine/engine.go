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
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/go-sourcemap/sourcemap"
	"modernc.org/quickjs"

	"devplatform/shared/async"
)

// The limits of an engine. The amounts of memory are in bytes.
const (
	maxMemory = 256 << 20
	// maxStack is the maximum number of nested calls. The stack of the goroutine is large enough for them.
	maxStack = 5000
	// minGarbage is the memory below which cycles of objects are not collected.
	minGarbage = 64 << 20
	// watchPeriod is the time between two checks of the time limit.
	watchPeriod = 10 * time.Millisecond
	// maxBuiltIn is the processor time after the limit in which an interrupt must stop a program. An interrupt has no
	// effect on a built-in function, and some built-in functions run for hours.
	maxBuiltIn = time.Second
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
// limit of time, every later call fails. A built-in function that does not end is abandoned: it uses a processor and
// the memory of the engine until the process ends.
type Engine struct {
	vm       *quickjs.VM
	clock    stopwatch
	state    atomic.Int32  // of the program
	isNested bool          // a registered function runs
	stuck    chan struct{} // closed when the program is abandoned
	closed   chan struct{}
	lines    int // number of lines of all programs
	programs []program
}

// The states of the program of an engine. Only a program that runs in the interpreter can be abandoned, because a
// registered function can change what the caller of the engine reads.
const (
	stateOutside   = iota // no program runs, or it has called a registered function
	stateRunning          // in the interpreter
	stateAbandoned        // the caller of the engine no longer waits for the program
)

// program is a program whose code begins after a number of lines. sources is nil if it has no source map.
type program struct {
	offset  int
	sources *sourcemap.Consumer
}

//go:embed prelude.js
var prelude string

// New returns an engine. limit is the processor time that its programs can use together. The caller must call Close.
func New(limit time.Duration) (*Engine, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	vm.SetMemoryLimit(maxMemory)
	vm.SetMaxStackSize(maxStack)
	vm.SetGCThreshold(minGarbage)
	vm.SetCanBlock(false)
	e := &Engine{vm: vm, clock: stopwatch{limit: limit}, stuck: make(chan struct{}), closed: make(chan struct{})}
	async.Go(e.watch, func(error) {})
	if err := e.Load(prelude, nil); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// watch stops all programs after the time limit. It does so again and again, because an interrupt has no effect between
// two calls of the interpreter. It abandons a program that interrupts do not stop.
func (e *Engine) watch() error {
	ticks := time.NewTicker(watchPeriod)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			if e.clock.isExpired() {
				e.vm.Interrupt()
			}
			if e.clock.time() > e.clock.limit+maxBuiltIn && e.state.CompareAndSwap(stateRunning, stateAbandoned) {
				close(e.stuck)
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
	if e.state.Load() != stateAbandoned {
		_ = e.vm.Close()
	}
}

// enter changes the state of the program. If the program was abandoned, enter never returns.
func (e *Engine) enter(from, to int32) {
	if !e.state.CompareAndSwap(from, to) {
		select {}
	}
}

// inInterpreter calls f, which runs a program, in a goroutine of its own. Errors: the errors of f, ErrTime.
func (e *Engine) inInterpreter(f func() error) error {
	run := func() error {
		defer e.clock.start()()
		if e.clock.isExpired() {
			return ErrTime
		}
		e.enter(stateOutside, stateRunning)
		defer e.enter(stateRunning, stateOutside)
		return f()
	}
	switch {
	case e.isNested:
		return run()
	case e.state.Load() == stateAbandoned:
		return ErrTime
	}
	done := make(chan error, 1)
	async.Go(run, func(err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-e.stuck:
		return ErrTime
	}
}

// Register makes a Go function a global function of the programs. An argument that is not a text is passed as "". An
// error of f is thrown as an exception.
func (e *Engine) Register(name string, f func(arguments []string) (string, error)) error {
	err := e.vm.RegisterHostFunc(name, func(values []any) (any, error) {
		e.enter(stateRunning, stateOutside)
		defer e.enter(stateOutside, stateRunning)
		defer func(before bool) { e.isNested = before }(e.isNested)
		e.isNested = true
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
	return e.inInterpreter(func() error {
		value, err := evaluate()
		if err != nil {
			return e.failure(err)
		}
		value.Free()
		return nil
	})
}

// Call calls a global function of a program with a JSON value, waits for its promise, and stores the result in out.
// Errors: *Error, ErrTime, ErrMemory, ErrNesting.
func (e *Engine) Call(function string, in, out any) error {
	input, err := json.Marshal(in, options)
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	var text any
	err = e.inInterpreter(func() (err error) {
		text, err = e.settle(function, string(input))
		return err
	})
	if err != nil {
		return err
	}
	result, isText := text.(string)
	if !isText {
		return &Error{Message: "the result is not a JSON value"}
	}
	if json.Unmarshal([]byte(result), out, options) != nil { // programs can change what JSON.stringify and promises do
		return &Error{Message: "the result does not have the expected form"}
	}
	return nil
}

// settle calls a global function, waits for its promise, and returns the value. Errors: the errors of Call.
func (e *Engine) settle(function, input string) (result any, err error) {
	promise, err := e.vm.CallValue("input => callJSON("+function+", input)", input)
	if err != nil {
		return nil, e.failure(err)
	}
	defer promise.Free()
	isSettled := false
	then, err := promise.Then(func(v quickjs.Value) { result, err = v.Any(); isSettled = true },
		func(v quickjs.Value) { err = quickjs.ErrorFromValue(v); isSettled = true })
	if err != nil {
		return nil, e.failure(err)
	}
	defer then.Free()
	for !isSettled {
		n, failed := e.vm.ExecutePendingJobs()
		switch {
		case e.clock.isExpired():
			return nil, ErrTime
		case n == 0 && !isSettled && failed != nil:
			return nil, e.failure(failed)
		case n == 0 && !isSettled:
			return nil, &Error{Message: "a promise is never settled"}
		}
	}
	if err != nil {
		return nil, e.failure(err)
	}
	return result, nil
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
