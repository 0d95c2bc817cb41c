package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"devplatform/infra/local/platform"
)

// serve runs a platform until ctx ends. It finds problems with settings, template, ports, functions and data before it
// prints the ready line.
func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("local", usage, stderr)
	template := flags.String("template", "template.yaml", "SAM template to run")
	binaries := flags.String("functions", "", "folder with the functions' binaries, which have the name of the last "+
		"element of their CodeUri (default: build them)")
	watch := flags.Bool("watch", false, "build a function again, and replace it, when its code changes")
	hasSymbols := flags.Bool("debug", false, "build the functions for a debugger: with symbols, without optimizations")
	listFlags := flags.Usage
	flags.Usage = func() {
		listFlags()
		_, _ = fmt.Fprint(stderr, "\nvariables:\n")
		printSettings(stderr)
		_, _ = fmt.Fprint(stderr, "\nThe functions' variables are in shared/config/README.md.\n")
	}
	if err := parse(flags, args, 0); err != nil {
		return err
	}
	if *watch && *binaries != "" {
		return errors.New("-watch needs to build the functions: omit -functions")
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // 5 % less CPU time for about 50 MB
	}
	s, err := loadSettings()
	if err != nil {
		return err
	}
	s.Template, s.Binaries, s.HasSymbols = *template, *binaries, *hasSymbols
	if s.Logger, err = s.newLogger(stderr); err != nil {
		return err
	}
	p, err := platform.Open(ctx, s.Config)
	if err != nil {
		if ctx.Err() == nil {
			return err
		}
		s.Logger.Info("stopping") // the error is only that the start was interrupted
		return nil
	}
	debug.FreeOSMemory() // the start needs more memory than an idle platform
	err = banner(stdout, p, modelHint(p.Stack.Functions))
	if err == nil {
		if *watch {
			go p.Watch(ctx)
		}
		err = p.Wait(ctx)
	}
	if err == nil {
		s.Logger.Info("stopping")
	}
	return errors.Join(err, p.Close())
}
