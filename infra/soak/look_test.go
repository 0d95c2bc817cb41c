package soak

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// footprint is what a process takes, as Linux sees it.
type footprint struct {
	rss   int64 // bytes
	files int
}

func (f footprint) String() string { return fmt.Sprintf("%d MB, %d files", f.rss>>20, f.files) }

// look looks at a process. Where there is no /proc the test is skipped.
func look(t testing.TB, pid int) footprint {
	t.Helper()
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	files, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		t.Skipf("a look at a process needs Linux: %v", err)
	}
	status, err := os.ReadFile(filepath.Join(dir, "statm"))
	if err != nil {
		t.Fatal(err)
	}
	fields := bytes.Fields(status)
	if len(fields) < 2 {
		t.Fatalf("statm says %q", status)
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return footprint{rss: pages * int64(os.Getpagesize()), files: len(files)}
}
