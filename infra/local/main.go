// Command local is the local platform: it runs a Go SAM project on one machine with nothing to install but Go.
//
// It reads template.yaml, starts the project's own Lambda binaries behind an API Gateway and a Lambda runtime, and
// answers the wire protocols of the AWS services that they use from an embedded store. What belongs here is the
// wiring of those parts, their settings and their manners on a terminal; each part has its own package below, and
// none of them knows anything of the project that it runs.
//
//	local [flags]                    run the platform until SIGINT or SIGTERM
//	local check TEMPLATE             say whether the platform can run a template, and what it can't do
//	local invoke [flags] FUNCTION EVENT   send one event file to a function of a running platform
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// now is the clock of the whole platform: every part is given it.
var now = time.Now

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run does what the arguments say and answers the exit status: 0 done, 1 failed (one line on stderr says why),
// 2 the arguments are wrong.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	command := serve
	if len(args) > 0 {
		switch args[0] {
		case "check":
			command, args = check, args[1:]
		case "invoke":
			command, args = invoke, args[1:]
		}
	}
	err := command(ctx, args, stdout, stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	}
	_, _ = fmt.Fprintln(stderr, "local:", err)
	return 1
}

// errUsage is an error that the flag package, or the command itself, has already explained on stderr.
var errUsage = errors.New("usage")

// newFlags makes the flag set of a command; its usage line stands above the list of flags.
func newFlags(name, usage string, stderr io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		_, _ = fmt.Fprintln(stderr, "usage:", usage)
		flags.PrintDefaults()
	}
	return flags
}

// parse reads the flags and checks the number of arguments behind them.
func parse(flags *flag.FlagSet, args []string, want int) error {
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err //nolint:wrapcheck // it is compared, never shown
		}
		return errUsage
	}
	if flags.NArg() != want {
		flags.Usage()
		return errUsage
	}
	return nil
}
