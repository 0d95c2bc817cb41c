// Command bench measures what the project promises and prints one table: cold starts, the warm path through the
// whole local platform, the embedded DynamoDB, and the start of the platform. Only measuring belongs here; what must
// hold is a test elsewhere, because a busy machine must not fail the tests.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	binaries := flag.String("binaries", ".build/local", "folder with the platform's and the functions' binaries (make binaries)")
	save := flag.String("save", "", "file to keep the table in")
	only := flag.String("only", "", "comma-separated sections to run: cold, start, warm, projects, costs, webhooks, deliveries, assistant, database (default: all)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *binaries, *save, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one run: where the binaries are, a scratch folder, and where the table goes.
type bench struct {
	binaries string
	scratch  string
	table    io.Writer
}

func run(ctx context.Context, binaries, save, only string) error {
	scratch, err := os.MkdirTemp("", "devplatform-bench-")
	if err != nil {
		return fmt.Errorf("scratch folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	binaries, err = filepath.Abs(binaries)
	if err != nil {
		return fmt.Errorf("binaries: %w", err)
	}
	var kept strings.Builder
	b := &bench{binaries: binaries, scratch: scratch, table: io.MultiWriter(os.Stdout, &kept)}
	b.printf("%s\n", machine())
	for _, section := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"cold", b.coldStarts},
		{"start", b.platformStart},
		{"warm", b.warm},
		{"projects", b.projects},
		{"costs", b.costs},
		{"webhooks", b.webhooks},
		{"deliveries", b.deliveries},
		{"assistant", b.assistant},
		{"database", b.database},
	} {
		if only != "" && !strings.Contains(","+only+",", ","+section.name+",") {
			continue
		}
		if err := section.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", section.name, err)
		}
	}
	if save == "" {
		return nil
	}
	if err := os.WriteFile(save, []byte(kept.String()), 0o644); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	return nil
}

func (b *bench) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(b.table, format, args...)
}

// machine describes where the numbers come from.
func machine() string {
	model := "unknown CPU"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores, %s/%s, %s, %s", model, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(),
		time.Now().UTC().Format("2006-01-02"))
}
