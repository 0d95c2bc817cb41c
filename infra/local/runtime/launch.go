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
	"time"
)

// start brings up the listener of the Runtime API, the log's pipes and the process. What it has
// opened before an error it closes.
func (i *instance) start() (*http.Server, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the runtime API: %w", err)
	}
	i.address = listener.Addr().String()
	if err := i.launch(); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler:           i,
		ConnState:         i.connection,
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          slog.NewLogLogger(i.pool.rt.opts.Logger.Handler(), slog.LevelWarn),
	}
	go func() { _ = server.Serve(listener) }() // ends by Shutdown
	for _, o := range i.output {
		go o.run()
	}
	i.begin()
	return server, nil
}

// launch starts the process. Its connections wait in the listener until the server serves it.
func (i *instance) launch() error {
	bootstrap := i.pool.function.Bootstrap
	i.cmd = exec.CommandContext(context.Background(), bootstrap) //nolint:gosec // running what is configured is the purpose
	i.cmd.Dir = filepath.Dir(bootstrap)
	i.cmd.Env = i.environment()
	i.cmd.SysProcAttr = processAttributes()
	stdout, err := i.pipe()
	if err != nil {
		return err
	}
	defer func() { _ = stdout.Close() }() // the process has its own
	stderr, err := i.pipe()
	if err != nil {
		return err
	}
	defer func() { _ = stderr.Close() }() // as above
	i.cmd.Stdout, i.cmd.Stderr = stdout, stderr
	return i.pool.rt.starter.start(i.cmd)
}
