package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
)

// BenchmarkRun builds sites. REACT_MODULES is a folder node_modules with react and react-dom; without it, the packages
// are the fakes of the tests.
func BenchmarkRun(b *testing.B) {
	packages := fakeReact()
	if folder := os.Getenv("REACT_MODULES"); folder != "" {
		packages = readTree(b, folder, "/node_modules")
	}
	static := func(n int) map[string][]byte {
		all := files("/index.html", `<link rel=stylesheet href=a.css><script type=module src=a.js></script>`, "/a.css",
			"a{color:red}",
			"/a.js", "console.log(1)")
		for i := range n - 3 {
			all[fmt.Sprintf("/pages/%d.html", i)] = []byte("<!doctype html><link rel=stylesheet href=/a.css><p>page</p>")
		}
		return all
	}
	for name, in := range map[string]sources{
		"react":      {Files: readTree(b, "testdata/react", ""), Packages: packages, Framework: "react"},
		"static20":   {Files: static(20)},
		"static1000": {Files: static(1000)},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Run(b.Context(), in.input()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNeighbour compares a build with a build that follows one that was stopped at its deadline, in turns. The
// metric x is the median of the quotients.
func BenchmarkNeighbour(b *testing.B) {
	in := sources{Files: readTree(b, "testdata/react", ""), Packages: fakeReact(), Framework: "react"}.input()
	measure := func() time.Duration {
		start := b.Elapsed()
		if _, err := Run(b.Context(), in); err != nil {
			b.Fatal(err)
		}
		return b.Elapsed() - start
	}
	var quotients []float64
	for b.Loop() {
		quiet := measure()
		ctx, cancel := context.WithTimeout(b.Context(), time.Second)
		if _, err := Run(ctx, withPage(mesh(12), nil).input()); !errors.Is(err, context.DeadlineExceeded) {
			b.Errorf("got %v", err)
		}
		cancel()
		quotients = append(quotients, measure().Seconds()/quiet.Seconds())
	}
	slices.Sort(quotients)
	b.ReportMetric(quotients[len(quotients)/2], "x")
}
