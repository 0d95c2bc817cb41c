// Command bench measures the local platform and prints the results. It writes no files. It checks no durations,
// because a busy machine must not make it fail. README.md explains how to read the results.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"devplatform/infra/bench/rig"
	"devplatform/infra/process"
)

// sections are all sections, in the order in which they run.
var sections = []struct {
	name string
	run  func(*bench, context.Context) error
}{
	{"cold", (*bench).cold},
	{"start", (*bench).start},
	{"warm", (*bench).warm},
	{"bodies", (*bench).bodies},
	{"operations", (*bench).operations},
	{"addresses", (*bench).addresses},
	{"projects", (*bench).projects},
	{"deployments", (*bench).deployments},
	{"pages", (*bench).pages},
	{"assistant", (*bench).assistant},
	{"webhooks", (*bench).webhooks},
	{"deliveries", (*bench).deliveries},
	{"isolation", (*bench).isolation},
	{"simulation", (*bench).simulation},
}

// bench contains the settings of a run.
type bench struct {
	binaries string
	scratch  string
	lone     int // number of lone deliveries in each row of the section isolation
}

func main() {
	var b bench
	flag.StringVar(&b.binaries, "binaries", ".build/local", "folder with the platform's and the functions' binaries")
	only := flag.String("only", "", "comma-separated sections to run (default: all)")
	flag.IntVar(&b.lone, "lone", 50, "number of lone deliveries in each row of the section isolation")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run runs the named sections, or all.
func (b *bench) run(ctx context.Context, only string) (err error) {
	var names []string
	for _, s := range sections {
		names = append(names, s.name)
	}
	chosen := names
	if only != "" {
		chosen = strings.Split(only, ",")
	}
	for _, name := range chosen {
		if !slices.Contains(names, name) {
			return fmt.Errorf("there is no section %q, only %s", name, strings.Join(names, ", "))
		}
	}
	if b.scratch, err = os.MkdirTemp("", "devplatform-bench-"); err != nil {
		return fmt.Errorf("scratch folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(b.scratch) }()
	printMachine(ctx)
	for _, s := range sections {
		if !slices.Contains(chosen, s.name) {
			continue
		}
		begin, others := time.Now(), watchOthers()
		if err := s.run(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		others.print()
		printf("(%s took %.0f s.)\n", s.name, time.Since(begin).Seconds())
	}
	return nil
}

// platform starts a platform with its data in a folder of that name.
func (b *bench) platform(ctx context.Context, name string, env ...string) (*process.Process, error) {
	dir := filepath.Join(b.scratch, name)
	return process.Start(ctx, process.Options{
		Binaries: b.binaries, Dir: dir, Env: append(slices.Clone(rig.Settings), env...),
	})
}
