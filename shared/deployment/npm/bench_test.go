package npm_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"devplatform/shared/deployment/npm"
	"devplatform/shared/deployment/tree"
)

// BenchmarkInstall installs the packages of a real project that are in the cache. It needs a registry, like
// TestCompare.
func BenchmarkInstall(b *testing.B) {
	registry := os.Getenv("NPM_COMPARE")
	if registry == "" {
		b.Skip("NPM_COMPARE is not set to the URL of a registry")
	}
	f := setUp(b)
	f.deps.Registry = registry
	in := npm.Project{Files: map[string][]byte{"/package.json": projects(b)["lovable"]}, Imports: projectImports}
	installer := npm.New(f.deps)
	install := func() npm.Report {
		files, err := tree.Create(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		defer files.Close()
		report, err := installer.Install(b.Context(), in, files)
		if err == nil {
			err = files.Finish(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
		return report
	}
	install()
	before := cpuTime(b)
	for b.Loop() {
		if report := install(); report.Downloaded > 0 {
			b.Fatalf("downloaded %d packages", report.Downloaded)
		}
	}
	b.ReportMetric((cpuTime(b)-before).Seconds()/float64(b.N), "cpu-s/op")
}

// cpuTime returns the processor time of this process.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
