package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"devplatform/infra/testmode"
)

// module writes a module of one package with two targets. The second target fails on every input that is not one of
// its seeds.
func module(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":          "module example\n\ngo 1.26\n",
		"deep/deep.go":    "package deep\n",
		"deep/a_test.go":  "package deep\n\nimport \"testing\"\n\nfunc FuzzHolds(f *testing.F) { f.Add(1); f.Fuzz(func(*testing.T, int) {}) }\n",
		"deep/b_test.go":  "package deep_test\n\nimport \"testing\"\n\nfunc FuzzBreaks(f *testing.F) {\n\tf.Add(1)\n\tf.Fuzz(func(t *testing.T, n int) {\n\t\tif n != 1 {\n\t\t\tt.Error(\"no one\")\n\t\t}\n\t})\n}\n\nfunc TestNothing(*testing.T) {}\n",
		"none/none.go":    "// Package none has no tests.\npackage none\n",
		"deep/helper.txt": "func FuzzNotGo(",
	} {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestRun(t *testing.T) {
	t.Parallel()
	testmode.SkipIfNotNightly(t) // the instrumented build of the standard library takes a minute
	folder := module(t)
	var table bytes.Buffer
	f := fuzzer{folder: folder, each: "1000x", workers: 1, table: &table}

	if err := f.run(t.Context(), []string{"./..."}, "Holds"); err != nil {
		t.Fatalf("%v\n%s", err, table.String())
	}
	if got := table.String(); !strings.HasPrefix(got, "targets: 1, ") || !strings.Contains(got, "deep.FuzzHolds") || strings.Contains(got, "FuzzBreaks") {
		t.Errorf("the table of one target:\n%s", got)
	}

	table.Reset()
	err := f.run(t.Context(), []string{"./..."}, "")
	if err == nil || !strings.Contains(err.Error(), "no one") {
		t.Fatalf("a target that fails: got the error %v, want the output of the test", err)
	}
	seeds, _ := filepath.Glob(filepath.Join(folder, "deep/testdata/fuzz/FuzzBreaks/*"))
	if len(seeds) != 1 {
		t.Fatalf("the failing input is in %q", seeds)
	}
	seed, _ := filepath.Rel(folder, seeds[0])
	if got := table.String(); !strings.Contains(got, "FAILED by "+filepath.ToSlash(seed)) {
		t.Errorf("the table does not name %s:\n%s", seed, got)
	}

	// The input that was kept fails again, and is named again, before anything new is tried.
	table.Reset()
	err = f.run(t.Context(), []string{"./deep"}, `^deep\.FuzzBreaks$`)
	if got := table.String(); err == nil || !strings.Contains(got, "FAILED by "+filepath.ToSlash(seed)) {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	f := fuzzer{folder: module(t), each: "1x", table: &bytes.Buffer{}}
	for _, c := range []struct{ packages, only, want string }{
		{"./...", "(", "-only"},
		{"./...", "^nothing$", "no target of 2 matches"},
		{"./missing", "", "go list"},
	} {
		if err := f.run(t.Context(), []string{c.packages}, c.only); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %q: %v, want %q", c.packages, c.only, err, c.want)
		}
	}
}

func TestResultOf(t *testing.T) {
	t.Parallel()
	out := `fuzz: elapsed: 0s, gathering baseline coverage: 0/26 completed
fuzz: elapsed: 3s, execs: 102 (34/sec), new interesting: 1 (total: 27)
fuzz: elapsed: 4s, execs: 90210 (30036/sec), new interesting: 12 (total: 38)
PASS
`
	got := resultOf(out, "a/b")
	if got != (result{executions: 90210, interesting: 12}) || got.verdict(nil) != "ok" {
		t.Errorf("%+v", got)
	}
	const end = "--- FAIL: FuzzX (60.10s)\n    context deadline exceeded\nFAIL\n"
	if !resultOf(out+end, "a/b").outOfTime || resultOf(out+"    Failing input written to testdata/fuzz/FuzzX/1\n"+end, "a/b").outOfTime || resultOf(end, "a/b").outOfTime {
		t.Error("got the wrong outOfTime, want true only if the target ran out of time and left no failing input")
	}
	out, _, _ = strings.Cut(out, "fuzz: elapsed: 3s") // no time for more than the known inputs
	if got := resultOf(out, "a/b").verdict(nil); got != "ok, the seeds alone" {
		t.Error(got)
	}
}
