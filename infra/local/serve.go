package main

import (
	"context"
	"io"
	"os"
	"runtime/debug"
	"time"
)

// A stop takes 5 s at most: requests and batches in flight get shutdownTime to finish, then the functions closeTime to end.
const (
	shutdownTime = 3 * time.Second
	closeTime    = time.Second
)

// serve runs the platform until ctx ends. Everything that can be wrong with settings, template, ports and data is
// found before the ready line, and is one line on stderr.
func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("local", "local [-template FILE] [-functions DIR]", stderr)
	template := flags.String("template", "template.yaml", "the SAM template that says what runs")
	functions := flags.String("functions", "", "folder with the functions' binaries, named as the last element of their CodeUri; without it they are built")
	if err := parse(flags, args, 0); err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // 5 % less CPU time for some 50 MB
	}
	settings, err := loadSettings()
	if err != nil {
		return err
	}
	settings.Template, settings.Binaries = *template, *functions
	if env := environment(); !hasRegistry(env) {
		settings.Registry = findRegistry(ctx, env)
	}

	logger := newLogger(stderr)
	models := probeModels(ctx, ollama, probeTime)
	p, err := open(ctx, settings, logger)
	if err != nil {
		if ctx.Err() == nil {
			return err
		}
		logger.Info("stopping") // told to end while it started: err is only what that cut
		return nil
	}
	p.models = models
	if err := p.banner(stdout); err != nil {
		_ = p.stop()
		return err
	}
	p.startRegistry()
	p.startTriggers()
	p.startSchedules()
	select {
	case <-ctx.Done():
		p.logger.Info("stopping")
		return p.stop()
	case err := <-p.failed:
		_ = p.close() // nothing that still runs could end well
		return err
	}
}
