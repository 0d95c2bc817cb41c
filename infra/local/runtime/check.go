package runtime

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Check starts a function from the binary at a path, and kills it when it asks for its first event. If the function
// exits before, for example because a variable is not valid, Check returns an error with the reason that it logged.
// Values of LateEnv are not set. A function that does not ask for an event within InitTimeout is not an error: the
// limit could be too short only on this machine. After Close, Check returns ErrClosed.
func (r *Runtime) Check(ctx context.Context, function, bootstrap string) error {
	p := r.pools[function]
	if p == nil {
		return fmt.Errorf("%w: %s", ErrFunctionNotFound, function)
	}
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	ctx, cancel := context.WithTimeout(ctx, r.opts.InitTimeout)
	defer cancel()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the Runtime API: %w", err)
	}
	api := &checkAPI{started: make(chan struct{}, 1)}
	server := &http.Server{Handler: api, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // ends with Shutdown
	defer func() { _ = server.Shutdown(context.WithoutCancel(ctx)) }()
	command := r.checkCommand(ctx, p.function, bootstrap, listener.Addr().String())
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := r.starter.start(command); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() {
		_ = command.Wait() // the result is in command.ProcessState
		close(exited)
	}()
	select {
	case <-api.started:
		cancel()
		<-exited
		return nil
	case <-exited:
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil
		}
		_ = server.Shutdown(context.WithoutCancel(ctx)) // waits for the handler that sets api.reported
		return errors.New(cmp.Or(api.reported, lastMessage(output.Bytes()), command.ProcessState.String()))
	}
}

// checkCommand returns the command that runs a function from the binary at a path, with the Runtime API at an address.
func (r *Runtime) checkCommand(ctx context.Context, function Function, bootstrap, address string) *exec.Cmd {
	function.LateEnv = nil
	variables := (&pool{rt: r, function: function}).environment()
	command := exec.CommandContext(ctx, bootstrap)
	command.Dir = filepath.Dir(bootstrap)
	command.Env = append(variables, "AWS_LAMBDA_RUNTIME_API="+address, "AWS_LAMBDA_LOG_STREAM_NAME=check")
	command.SysProcAttr = processAttributes()
	command.WaitDelay = time.Second
	return command
}

// checkAPI is the Runtime API of a function that is only checked: it has no events.
type checkAPI struct {
	started  chan struct{} // receives when the function asks for its first event
	reported string        // the error that the function reported
}

// ServeHTTP handles the requests of the process.
func (a *checkAPI) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if strings.HasSuffix(request.URL.Path, "/init/error") {
		body, _ := io.ReadAll(io.LimitReader(request.Body, 1<<16))
		a.reported = lastMessage(body)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	select {
	case a.started <- struct{}{}:
	default:
	}
	<-request.Context().Done()
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
