package soak

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// footprint is the memory and the number of open files of a process.
type footprint struct {
	rss   int64 // bytes
	files int
}

func (f footprint) String() string { return fmt.Sprintf("%d MB, %d files", f.rss>>20, f.files) }

// look returns the footprint of a process. It skips the test if the system has no /proc.
func look(t testing.TB, pid int) footprint {
	t.Helper()
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	files, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		t.Skipf("the footprint of a process needs Linux: %v", err)
	}
	status, err := os.ReadFile(filepath.Join(dir, "statm"))
	if err != nil {
		t.Fatal(err)
	}
	fields := bytes.Fields(status)
	if len(fields) < 2 {
		t.Fatalf("statm contains %q", status)
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return footprint{rss: pages * int64(os.Getpagesize()), files: len(files)}
}
