package runtime

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"sync/atomic"
	"time"
)

// starter starts all processes from one operating-system thread, which lives as long as the Runtime: the kernel sends
// the parent-death signal when the thread that started a process ends, not when its process ends.
type starter struct {
	work  chan func()
	count atomic.Int64
}

func newStarter() *starter {
	s := &starter{work: make(chan func())}
	go func() {
		goruntime.LockOSThread()
		defer goruntime.UnlockOSThread()
		for f := range s.work {
			f()
		}
	}()
	return s
}

func (s *starter) start(cmd *exec.Cmd) error {
	s.count.Add(1)
	done := make(chan error, 1)
	s.work <- func() { done <- cmd.Start() }
	if err := <-done; err != nil {
		return fmt.Errorf("start the process: %w", err)
	}
	return nil
}

func (s *starter) stop() { close(s.work) }

// start opens the listener of the Runtime API, and starts the process. After an error, nothing is open.
func (i *instance) start() (*http.Server, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the runtime API: %w", err)
	}
	i.address = listener.Addr().String()
	if err := i.launch(); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	i.limitStart()
	server := &http.Server{
		Handler:           i,
		ConnState:         i.countConnection,
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          slog.NewLogLogger(i.pool.rt.opts.Logger.Handler(), slog.LevelWarn),
	}
	go func() { _ = server.Serve(listener) }() // returns after Close
	return server, nil
}

// launch starts the process. Its connections wait in the listener until the server accepts them.
func (i *instance) launch() error {
	bootstrap := i.pool.function.Bootstrap
	i.cmd = exec.CommandContext(context.Background(), bootstrap)
	i.cmd.Dir = filepath.Dir(bootstrap)
	i.cmd.Env = i.environment()
	i.cmd.SysProcAttr = processAttributes()
	i.cmd.Stdout, i.cmd.Stderr = i.output, i.output
	i.cmd.WaitDelay = closeGrace // a process that it has started may keep the output open
	return i.pool.rt.starter.start(i.cmd)
}
