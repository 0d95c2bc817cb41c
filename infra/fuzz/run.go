package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// minimize is the maximum time in which one input is made smaller. Go's default is a minute, in which a slow target on
// one worker would try nothing new.
const minimize = 500 * time.Millisecond

// result is the result of a run of a target.
type result struct {
	executions  int64
	interesting int64  // inputs that reached code that no earlier input had reached
	seed        string // the failing input's file, inside the module
	// outOfTime reports that go test failed only because its time was over. On a busy machine, go test can reach its
	// deadline before its workers do. If the target itself fails, there is a seed.
	outOfTime bool
}

func (r result) verdict(err error) string {
	switch {
	case err == nil && r.executions == 0:
		return "ok, the seeds alone"
	case err == nil:
		return "ok"
	case r.seed != "":
		return "FAILED by " + r.seed
	default:
		return "FAILED"
	}
}

// fuzz runs one target, because go test accepts only one. If an input fails, go test stores it in the package's
// testdata, and every later `go test` tries it again.
func (f *fuzzer) fuzz(ctx context.Context, t target) (result, error) {
	args := []string{
		"test", "-run=^$", "-fuzz=^" + t.name + "$", "-fuzztime=" + f.each, "-fuzzminimizetime=" + minimize.String(),
	}
	if f.workers > 0 {
		args = append(args, "-parallel="+strconv.Itoa(f.workers))
	}
	args = append(args, t.pkg)
	test := exec.CommandContext(ctx, "go", args...)
	test.Dir = f.folder
	var out bytes.Buffer
	test.Stdout, test.Stderr = &out, &out
	err := test.Run()
	r := resultOf(out.String(), strings.TrimPrefix(strings.TrimPrefix(t.pkg, t.module), "/"))
	if err != nil && !r.outOfTime {
		return r, fmt.Errorf("%w\n%s", err, out.String())
	}
	return r, nil
}

var (
	progress = regexp.MustCompile(`execs: (\d+) .*new interesting: (\d+)`)
	written  = regexp.MustCompile(`Failing input written to (\S+)`)
	timeUp   = regexp.MustCompile(`(?m)^--- FAIL: Fuzz\w+ \([0-9.]+s\)\n +context deadline exceeded\nFAIL$`)
	replayed = regexp.MustCompile(`failure while testing seed corpus entry: (\S+)`)
)

// resultOf reads what `go test -fuzz` printed for a target of the package in folder.
func resultOf(out, folder string) result {
	var r result
	if all := progress.FindAllStringSubmatch(out, -1); len(all) > 0 {
		last := all[len(all)-1]
		r.executions, _ = strconv.ParseInt(last[1], 10, 64)
		r.interesting, _ = strconv.ParseInt(last[2], 10, 64)
	}
	if m := written.FindStringSubmatch(out); m != nil {
		r.seed = path.Join(folder, m[1])
	} else if m := replayed.FindStringSubmatch(out); m != nil {
		r.seed = path.Join(folder, "testdata/fuzz", m[1])
	}
	r.outOfTime = r.seed == "" && r.executions > 0 && timeUp.MatchString(out)
	return r
}
