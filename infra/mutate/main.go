// Command mutate measures how well the tests protect the code. It changes one place of the code at a time, such as "<"
// to "<=" or "return err" to "return nil", and runs the tests of the package and of the packages that import it. A
// change that no test notices has survived. The changes are a random sample, which the seed determines, so that two
// versions of the tests can be compared. No file of the working tree changes: go test reads the changed file through
// -overlay.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"
)

func main() {
	seed := flag.Uint64("seed", 1, "seed of the random sample")
	count := flag.Int("n", 100, "number of mutations")
	limit := flag.Duration("timeout", 5*time.Minute, "time limit of the tests of a mutation, which kills the mutation")
	flag.Usage = func() {
		_, _ = fmt.Fprintln(flag.CommandLine.Output(), "usage: mutate [-seed 1] [-n 100] [-timeout 5m] [packages]")
		flag.PrintDefaults()
	}
	flag.Parse()
	packages := flag.Args()
	if len(packages) == 0 {
		packages = []string{"./shared/...", "./functions/..."}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := sampler{folder: ".", seed: *seed, count: *count, limit: *limit, out: os.Stdout}
	if _, err := s.run(ctx, packages); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// sampler runs the tests with a random sample of mutations of the module in folder.
type sampler struct {
	folder string
	seed   uint64
	count  int
	limit  time.Duration
	out    io.Writer
}

// result counts the mutations of a sample.
type result struct{ killed, survived int }

// run tries mutations of the packages in random order until it has tried the wanted number of mutations that compile,
// and prints a line for each of them. A survivor is not an error, because some mutations do not change the behavior.
func (s *sampler) run(ctx context.Context, patterns []string) (result, error) {
	listed, err := list(ctx, s.folder)
	if err != nil {
		return result{}, err
	}
	mutations, err := listed.mutations(ctx, patterns)
	if err != nil {
		return result{}, err
	}
	random := rand.New(rand.NewPCG(s.seed, 0)) //nolint:gosec // a reproducible sample
	random.Shuffle(len(mutations), func(i, j int) { mutations[i], mutations[j] = mutations[j], mutations[i] })
	s.printf("seed %d: %d of %d possible mutations\n", s.seed, min(s.count, len(mutations)), len(mutations))
	var r result
	for _, m := range mutations {
		if r.killed+r.survived == s.count {
			break
		}
		compiles, killed, err := listed.try(ctx, m, s.limit)
		switch {
		case err != nil:
			return r, err
		case !compiles:
			continue
		case killed:
			r.killed++
			s.printf("killed    %s\n", m)
		default:
			r.survived++
			s.printf("SURVIVED  %s\n", m)
		}
	}
	s.printf("%d killed, %d survived\n", r.killed, r.survived)
	return r, nil
}

func (s *sampler) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, format, args...)
}
