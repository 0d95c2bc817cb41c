// Command local is the local platform: it runs this project on one machine that has only Go. Run `local help` for its
// subcommands, flags and variables. The package platform does the work. What belongs here is the command line, and
// the settings for the project that the platform is part of.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

const usage = `usage:
  local [flags]                          run the platform until SIGINT or SIGTERM
  local check TEMPLATE                   check whether the platform can run a template
  local invoke [flags] FUNCTION EVENT    send an event file ("-": standard input) to a function of a running platform
  local help                             print this text

flags:
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the command that the arguments select, and returns the exit status: 0 for success, 1 for an error, which it
// writes to stderr, and 2 for wrong arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := serve
	if len(args) > 0 {
		switch args[0] {
		case "check":
			command, args = check, args[1:]
		case "invoke":
			command, args = invoke, args[1:]
		case "help", "-h", "-help", "--help":
			args, stderr = []string{"-h"}, stdout
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

// errUsage is the error for wrong arguments. parse has already printed the mistake.
var errUsage = errors.New("usage")

// newFlags returns the flag set of a command. printUsage writes the text before the list of flags.
func newFlags(name, usage string, stderr io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		_, _ = fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	return flags
}

// parse parses flags, and checks that there are want other arguments. For wrong arguments, it prints one line about
// the mistake, and how to get the usage.
func parse(flags *flag.FlagSet, args []string, want int) error {
	usage := flags.Usage
	flags.Usage = func() {} // Parse also calls it after an error: the long text would hide the error
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		usage()
		return flag.ErrHelp
	case err == nil && flags.NArg() == want:
		return nil
	case err == nil: // else Parse has printed the error
		_, _ = fmt.Fprintf(flags.Output(), "got the arguments %q, want %d\n", flags.Args(), want)
	}
	_, _ = fmt.Fprintf(flags.Output(), "Run `local %s` for the usage.\n", strings.TrimPrefix(flags.Name()+" -h", "local "))
	return errUsage
}
