// Command demo shows all features of the platform in a terminal: a project and its files, the assistant, webhooks with
// verified signatures, a failed delivery and its retry, the delivery log, a site, and the life of an account, with its
// mails. Everything that it prints happens while it runs, and every time is measured.
//
// It uses the platform as any client does, through its HTTP API. It must not import packages of the service. If no
// platform responds, it starts one, with its data in a temporary folder. With -keep, nothing is deleted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"devplatform/infra/hooktest"
	"devplatform/infra/process"
)

// Exit codes.
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

// options are the flags.
type options struct {
	url, binaries, template, operator string
	keep                              bool
}

// run runs the demo and returns the exit code. It reports an error as one line on stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.url, "url", "http://localhost:3000", "base URL of the platform")
	flags.StringVar(&o.binaries, "binaries", ".build/local", "folder of the binaries of the demo's own platform")
	flags.StringVar(&o.template, "template", "template.yaml", "template that the demo's own platform runs")
	flags.StringVar(&o.operator, "operator", ".build/operator", "program of operators")
	flags.BoolVar(&o.keep, "keep", false,
		"keep the account, the projects, the site and the webhooks, and print how to log in")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitDone
	} else if err != nil {
		return exitUsage
	}
	if flags.NArg() > 0 {
		_, _ = fmt.Fprintf(stderr, "demo: %q is not a flag\n", flags.Arg(0))
		return exitUsage
	}
	switch err := perform(ctx, o, newScreen(stdout)); {
	case err == nil:
		return exitDone
	case ctx.Err() != nil:
		_, _ = fmt.Fprintln(stderr, "demo: interrupted")
		return exitInterrupted
	default:
		_, _ = fmt.Fprintln(stderr, "demo:", clean(err.Error()))
		return exitFailed
	}
}

// perform finds or starts a platform, and runs the demo on it.
func perform(ctx context.Context, o options, screen *screen) error {
	screen.line(screen.paint(bold, "devplatform: a demonstration"))
	base := strings.TrimRight(o.url, "/")
	err := find(ctx, base)
	isOwn := errors.Is(err, errNoPlatform)
	switch {
	case isOwn:
		folder, err := os.MkdirTemp("", "devplatform-demo-")
		if err != nil {
			return fmt.Errorf("temporary folder: %w", err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		own := process.Options{Binaries: o.binaries, Template: o.template, Dir: filepath.Join(folder, "data")}
		if parsed, err := url.Parse(base); err == nil && o.keep { // as `make run`
			own.Dir, own.Env = ".local", []string{"PORT=" + parsed.Port()}
		}
		p, err := process.Start(ctx, own)
		if err != nil {
			return fmt.Errorf("no platform responds at %s, and the demo cannot start its own: %w", base, err)
		}
		defer p.Stop()
		screen.say("No platform responds at %s. The demo has started its own at %s (in %s).", base, p.URL,
			milliseconds(p.Took))
		base = p.URL
	case err != nil:
		return err
	default:
		screen.say("The demo uses the platform at %s.", base)
	}
	story, err := newStory(ctx, screen, base, o)
	if err != nil {
		return err
	}
	defer story.receiver.Close()
	err = story.run(ctx)
	switch {
	case err != nil && !isOwn: // an own platform ends with its data
		story.abandon(ctx)
	case err == nil && isOwn && o.keep:
		screen.say("Ctrl-C stops the platform. `make run` starts it again with the same data.")
		_ = story.await(ctx, "Ctrl-C", func(*hooktest.Receiver) bool { return false })
	}
	return err
}

// errNoPlatform is the error if nothing listens at an address on this machine.
var errNoPlatform = errors.New("no platform responds")

// find returns nil if a platform responds at an address.
func find(ctx context.Context, base string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/api/auth/me", nil)
	if err != nil || request.URL.Scheme != "http" && request.URL.Scheme != "https" {
		return fmt.Errorf("-url %s: must start with http:// or https://", base)
	}
	response, err := http.DefaultClient.Do(request)
	ip := net.ParseIP(strings.Replace(request.URL.Hostname(), "localhost", "127.0.0.1", 1))
	switch {
	case errors.Is(err, syscall.ECONNREFUSED) && ip.IsLoopback():
		return errNoPlatform
	case err != nil:
		return fmt.Errorf("no platform responds at %s: start the platform with `make run`, or set -url: %w", base, err)
	}
	defer func() { _ = response.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if response.StatusCode != http.StatusUnauthorized || !strings.Contains(string(body), "AUTH_INVALID_TOKEN") {
		return fmt.Errorf("another program uses %s, or the platform there does not work (%s): free the port, or set PORT=…",
			base, response.Status)
	}
	return nil
}
