package runtime

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Check starts a function from the binary at a path, and stops it when it asks for its first event. If the function
// exits before, for example because a variable is not valid, Check returns an error with the reason that it logged.
// A function that does not ask for an event within InitTimeout is not an error: the limit could be too short only on
// this machine. After Close, Check returns ErrClosed.
func (r *Runtime) Check(ctx context.Context, function, bootstrap string) error {
	p := r.pools[function]
	if p == nil {
		return fmt.Errorf("%w: %s", ErrFunctionNotFound, function)
	}
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	// The pool has a later version than the instance, so it stops the instance instead of giving it a call.
	checked := &pool{rt: r, function: p.function, version: 1, starting: 1, all: map[*instance]struct{}{}}
	checked.function.Bootstrap = bootstrap
	checked.env = sync.OnceValue(checked.environment)
	i := newInstance(checked)
	i.version = 0
	var output bytes.Buffer
	i.output.emit = func(line string) { output.WriteString(line + "\n") }
	defer context.AfterFunc(ctx, i.abort)()
	r.children.Add(1)
	i.run()
	switch {
	case i.end != byItself:
		return nil
	case i.startErr != nil:
		return i.startErr
	case ctx.Err() != nil:
		return fmt.Errorf("check %s: %w", function, ctx.Err())
	case i.initErr != nil:
		return errors.New(lastMessage(i.initErr.Payload))
	}
	return errors.New(cmp.Or(lastMessage(output.Bytes()), i.cmd.ProcessState.String()))
}

// lastMessage returns the line of a log with the reason why a function exited: the message of a panic, or the last
// line. If the line is JSON, lastMessage returns the error or the message in it.
func lastMessage(log []byte) string {
	lines := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
	last := lines[len(lines)-1]
	for _, line := range lines {
		if bytes.HasPrefix(line, []byte("panic: ")) { // the lines after it are the stack
			return string(line)
		}
	}
	var line struct{ Msg, Error, ErrorMessage string }
	if json.Unmarshal(last, &line) != nil {
		return string(last)
	}
	return cmp.Or(line.Error, line.ErrorMessage, line.Msg, string(last))
}
