// Command fuzz runs every fuzz target of the project, one after another, and prints a table of the targets, their
// executions and their results. It finds the targets in the test files, so no list of targets can be incomplete.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
)

func main() {
	each := flag.String("time", "60s", "how long each target runs, or how often: 1000x")
	workers := flag.Int("parallel", 0, "workers of a target (default: one per core)")
	only := flag.String("only", "",
		"regular expression: run the targets whose package and name match, such as shared/deployment/npm.FuzzSelect")
	flag.Usage = func() {
		_, _ = fmt.Fprintln(flag.CommandLine.Output(),
			"usage: fuzz [-time 60s|1000x] [-parallel n] [-only regexp] [packages]")
		flag.PrintDefaults()
	}
	flag.Parse()
	packages := flag.Args()
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	f := fuzzer{folder: ".", each: *each, workers: *workers, table: os.Stdout}
	if err := f.run(ctx, packages, *only); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

// fuzzer runs the fuzz targets of the module in folder.
type fuzzer struct {
	folder  string
	each    string // time or number of executions of a target, as in -fuzztime of go test
	workers int
	table   io.Writer
}

// run fuzzes the targets of the packages, and stops at the first target that fails.
func (f *fuzzer) run(ctx context.Context, packages []string, only string) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	found, err := targets(ctx, f.folder, packages)
	if err != nil {
		return err
	}
	var chosen []target
	width := len("target")
	for _, t := range found {
		if wanted.MatchString(t.String()) {
			chosen = append(chosen, t)
			width = max(width, len(t.String()))
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no target of %d matches", len(found))
	}
	f.printf("targets: %d, %s each\n", len(chosen), f.each)
	f.printf("%-*s  %12s  %8s  %s\n", width, "target", "executions", "new", "result")
	var executions int64
	for _, t := range chosen {
		f.printf("%-*s  ", width, t)
		r, err := f.fuzz(ctx, t)
		f.printf("%12d  %8d  %s\n", r.executions, r.interesting, r.verdict(err))
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		executions += r.executions
	}
	f.printf("%-*s  %12d  %8s  ok\n", width, "all", executions, "")
	return nil
}

func (f *fuzzer) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(f.table, format, args...)
}
