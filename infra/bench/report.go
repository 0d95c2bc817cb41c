package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// report is the table: sections of rows of the same columns, a name and values to its right.
type report struct {
	out  io.Writer
	kept strings.Builder
}

const (
	nameWidth = 42
	cellWidth = 12
)

// line prints and keeps a line.
func (r *report) line(format string, args ...any) {
	line := strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n"
	_, _ = io.WriteString(r.out, line)
	r.kept.WriteString(line)
}

// section begins a part of the table: what it shows, how, and the heads of its columns.
func (r *report) section(title string, heads ...any) {
	r.line("")
	r.line("%s", title)
	r.row("", heads...)
}

// row prints values: durations in milliseconds, rates without a fraction, anything else as it is.
func (r *report) row(name string, values ...any) {
	line := fmt.Sprintf("%-*s", nameWidth, name)
	for _, value := range values {
		var cell string
		switch v := value.(type) {
		case time.Duration:
			cell = ms(v)
			if v == 0 { // nothing was as quick as the clock: nothing came in time
				cell = "none"
			}
		case float64:
			cell = strconv.FormatFloat(v, 'f', 0, 64)
		default:
			cell = fmt.Sprint(v)
		}
		line += fmt.Sprintf(" %*s", cellWidth, cell)
	}
	r.line("%s", line)
}

// ms writes a duration in milliseconds.
func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond)) }

// mb writes a number of bytes in millions.
func mb(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// kib writes a number of bytes in KiB.
func kib(n int) string { return fmt.Sprintf("%.1f KiB", float64(n)/1024) }

// times writes a ratio.
func times(part, of float64) string { return fmt.Sprintf("%.2fx", part/of) }

// percent writes a share.
func percent(part, of float64) string { return fmt.Sprintf("%.1f %%", 100*part/of) }

// plural writes a number of things.
func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// machine says where the numbers come from.
func (r *report) machine(ctx context.Context) {
	r.line("%s, %d cores, %s, %s", processor(), runtime.NumCPU(), memory(), system())
	r.line("%s, %s, %s", runtime.Version(), commit(ctx), time.Now().UTC().Format("2006-01-02 15:04 UTC"))
	load := procFile("/proc/loadavg")
	if fields := strings.Fields(load); len(fields) > 2 {
		warning := ""
		if now, err := strconv.ParseFloat(fields[0], 64); err == nil && now > 0.75*float64(runtime.NumCPU()) {
			warning = "   BUSY: something else runs here; the times below are too long, the rates too low"
		}
		r.line("load when it began: %s%s", strings.Join(fields[:3], " "), warning)
	}
}

// procFile is a file of /proc, or "" where there is none.
func procFile(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

func processor() string {
	for line := range strings.Lines(procFile("/proc/cpuinfo")) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

func memory() string {
	if fields := strings.Fields(procFile("/proc/meminfo")); len(fields) > 1 && fields[0] == "MemTotal:" {
		if kilobytes, err := strconv.ParseFloat(fields[1], 64); err == nil {
			return fmt.Sprintf("%.0f GiB of memory", kilobytes/(1<<20))
		}
	}
	return "unknown memory"
}

func system() string {
	name := runtime.GOOS + "/" + runtime.GOARCH
	if release := procFile("/proc/sys/kernel/osrelease"); release != "" {
		name += ", kernel " + release
	}
	return name
}

// commit is what was measured.
func commit(ctx context.Context) string {
	hash, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown commit"
	}
	name := "commit " + strings.TrimSpace(string(hash))
	if changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no").Output(); err == nil && len(changed) > 0 {
		name += " with changes"
	}
	return name
}
