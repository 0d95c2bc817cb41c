// Command bench measures what the project promises, and works out what it costs, in one table. Only measuring belongs here; what must
// hold is a test elsewhere, because a busy machine must not fail the tests. README.md next to this file says how to read the table.
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
)

func main() {
	binaries := flag.String("binaries", ".build/local", "folder with the platform's and the functions' binaries (make binaries)")
	save := flag.String("save", "", "file to keep the table in")
	costs := flag.String("costs", "", "document whose table of prices is updated")
	only := flag.String("only", "", "comma-separated sections to run (default: all): "+strings.Join(sectionNames(), ", "))
	lone := flag.Int("lone", 50, "number of lone deliveries in each row of the section isolation")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *binaries, *save, *costs, *only, *lone); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// sections contains all sections in the order in which they run. Those that a busy machine disturbs most come first.
var sections = []struct {
	name string
	run  func(*bench, context.Context) error
}{
	{"cold", (*bench).coldStarts},
	{"start", (*bench).platformStart},
	{"warm", (*bench).warm},
	{"projects", (*bench).projects},
	{"assistant", (*bench).assistant},
	{"webhooks", (*bench).webhooks},
	{"isolation", (*bench).isolation},
	{"deliveries", (*bench).deliveries},
	{"database", (*bench).database},
	{"simulation", (*bench).simulation},
	{"costs", (*bench).costs},
}

func sectionNames() []string {
	names := make([]string, len(sections))
	for i, s := range sections {
		names[i] = s.name
	}
	return names
}

// bench is one run of the program: its settings, a scratch folder, the table, and the values that sections share.
type bench struct {
	report
	binaries string
	scratch  string
	lone     int           // see [bench.during]
	platform *rig.Process  // see [bench.shared]
	big      *rig.Workshop // see [bench.bigProject]
	empty    string        // see [bench.emptyFunction]
	rows     []costRow     // what requests cost, once that is measured
}

func run(ctx context.Context, binaries, save, costs, only string, lone int) error {
	chosen := sectionNames()
	if only != "" {
		chosen = strings.Split(only, ",")
		for _, name := range chosen {
			if !slices.Contains(sectionNames(), name) {
				return fmt.Errorf("there is no section %q: there are %s", name, strings.Join(sectionNames(), ", "))
			}
		}
	}
	scratch, err := os.MkdirTemp("", "devplatform-bench-")
	if err != nil {
		return fmt.Errorf("scratch folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	binaries, err = filepath.Abs(binaries)
	if err != nil {
		return fmt.Errorf("binaries: %w", err)
	}
	b := &bench{binaries: binaries, scratch: scratch, lone: lone, report: report{out: os.Stdout}}
	defer b.close()
	b.machine(ctx)
	if err := b.measure(ctx, chosen); err != nil {
		return err
	}
	if save != "" {
		if err := os.WriteFile(save, []byte(b.kept.String()), 0o644); err != nil {
			return fmt.Errorf("save: %w", err)
		}
	}
	if costs != "" && len(b.rows) > 0 {
		return updateFigures(costs, b.kept.String())
	}
	return nil
}

// measure runs the chosen sections and tells how long each took.
func (b *bench) measure(ctx context.Context, chosen []string) error {
	var took []string
	begin := time.Now()
	for _, section := range sections {
		if !slices.Contains(chosen, section.name) {
			continue
		}
		at := time.Now()
		if err := section.run(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", section.name, err)
		}
		took = append(took, fmt.Sprintf("%s %.0f s", section.name, time.Since(at).Seconds()))
	}
	b.line("")
	b.line("This took %s: %s.", time.Since(begin).Round(time.Second), strings.Join(took, ", "))
	return nil
}

// shared is one platform for every section that makes load from outside and doesn't care what else its tables hold.
func (b *bench) shared(ctx context.Context) (string, error) {
	if b.platform == nil {
		p, err := rig.Start(ctx, b.binaries, filepath.Join(b.scratch, "shared"))
		if err != nil {
			return "", err
		}
		b.platform = p
	}
	return b.platform.URL, nil
}

// bigFiles is how many files the big project has: ten less than are allowed.
const bigFiles = 4990

// bigProject is a project with very many files on the shared platform, made once.
func (b *bench) bigProject(ctx context.Context) (*rig.Workshop, error) {
	if b.big == nil {
		url, err := b.shared(ctx)
		if err != nil {
			return nil, err
		}
		w, err := rig.NewWorkshop(ctx, url, 1)
		if err != nil {
			return nil, err
		}
		if err := w.Fill(w.Projects[0], 0, bigFiles); err != nil {
			return nil, err
		}
		b.big = w
	}
	return b.big, nil
}

// emptyFunction is the binary of the function that does nothing, compiled once.
func (b *bench) emptyFunction(ctx context.Context) (string, error) {
	var err error
	if b.empty == "" {
		b.empty, err = rig.BuildEmpty(ctx, b.scratch)
	}
	return b.empty, err
}

func (b *bench) close() {
	if b.big != nil {
		b.big.Close()
	}
	if b.platform != nil {
		b.platform.Stop()
	}
}
