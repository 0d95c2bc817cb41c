// Command demo tells the whole story of the platform on a terminal, in well under a minute: an account, a project and its files,
// the assistant at work, its answer as a live stream, webhooks that a receiver verifies, one that fails and is retried, and the log
// of it all. Everything that it prints happened while it ran, and every time was measured.
//
// It knows the platform as any client does, from its HTTP API and its documentation: nothing of the product's code may enter here.
// Where no platform answers it runs one of its own, from built binaries, with its data in a temporary folder.
//
//	demo [-url http://localhost:3000] [-binaries .build/local] [-plain]
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

// now is the clock of the whole demo.
var now = time.Now

// Exit codes: what shells expect of a program that did its work, that failed, that was called wrongly, that was interrupted.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are what the command line says.
type options struct {
	url      string // the platform's base URL
	binaries string // folder with the platform's and the functions' binaries
	template string // template that the demo's own platform runs
	plain    bool   // no colours and nothing that moves
	own      bool   // exit with 0 if the demo would start its own platform, else with 1, and do nothing else
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.url, "url", "http://localhost:3000", "base URL of the platform")
	flags.StringVar(&o.binaries, "binaries", ".build/local", "folder of the binaries for the demo's own platform (make binaries)")
	flags.BoolVar(&o.plain, "plain", false, "print without colors and animations, like to a file")
	flags.StringVar(&o.template, "template", "template.yaml", "template that the demo's own platform runs")
	flags.BoolVar(&o.own, "own", false, "exit with 0 if the demo would start its own platform, else with 1, and do nothing else")
	if err := flags.Parse(args); err != nil {
		return o, fmt.Errorf("flags: %w", err)
	}
	if flags.NArg() > 0 {
		_, _ = fmt.Fprintf(stderr, "demo: %q is not a flag\n", flags.Arg(0))
		return o, errors.New("arguments")
	}
	return o, nil
}

// run tells the story and answers the exit code; what went wrong is one line on stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		return exitUsage
	}
	if o.own {
		if _, err := look(ctx, o.url); errors.Is(err, errNobody) && onThisMachine(o.url) {
			return exitDone
		}
		return exitFailed
	}
	screen := newScreen(stdout, o.plain)
	err = perform(ctx, o, screen)
	screen.end()
	switch {
	case err == nil:
		return exitDone
	case ctx.Err() != nil:
		_, _ = fmt.Fprintln(stderr, "demo: interrupted")
		return exitInterrupted
	}
	_, _ = fmt.Fprintln(stderr, "demo:", clean(err.Error()))
	return exitFailed
}

// perform finds a platform or runs one, and tells the story on it.
func perform(ctx context.Context, o options, screen *screen) (err error) {
	screen.title("devplatform: a demonstration")
	var own *platform
	url, err := look(ctx, o.url)
	switch {
	case err == nil:
		screen.say("The demo uses the platform at %s. At the end it deletes everything except its account.", url)
	case errors.Is(err, errNobody) && onThisMachine(o.url):
		if own, err = startPlatform(ctx, o.binaries, o.template); err != nil {
			return fmt.Errorf("no platform responds at %s, and the demo cannot start its own: %w", o.url, err)
		}
		defer func() { err = errors.Join(err, own.stop()) }()
		url = own.url
		screen.say("No platform responds at %s. The demo has started its own at %s (in %s), with its data in a temporary folder.",
			o.url, url, milliseconds(own.took))
	default:
		return err
	}
	story, err := newStory(screen, url)
	if err != nil {
		return err
	}
	defer story.receiver.close()
	if err := story.tell(ctx); err != nil {
		if own == nil { // else all of it ends with the platform
			story.abandon(ctx)
		}
		return err
	}
	return nil
}
