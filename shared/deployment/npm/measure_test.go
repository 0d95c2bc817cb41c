package npm_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"devplatform/shared/deployment/npm"
	"devplatform/shared/deployment/tree"
)

// TestMeasure logs the time and the memory of installations of real projects, with an empty and with a warm cache. It
// needs a registry, like TestCompare.
func TestMeasure(t *testing.T) {
	registry := os.Getenv("NPM_COMPARE")
	if registry == "" {
		t.Skip("NPM_COMPARE is not set to the URL of a registry")
	}
	manifests := projects(t)
	for _, name := range []string{"react 19", "lovable", "mui 5", "antd and firebase", "monaco", "phaser"} {
		t.Run(name, func(t *testing.T) {
			f := setUp(t)
			f.deps.Registry = registry
			in := npm.Project{Files: map[string][]byte{"/package.json": manifests[name]}, Imports: projectImports}
			for _, cache := range []string{"empty", "warm"} {
				done := make(chan struct{})
				peak := watchHeap(done)
				files, err := tree.Create(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				defer files.Close()
				began := time.Now()
				report, err := npm.New(f.deps).Install(t.Context(), in, files)
				took := time.Since(began)
				close(done)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s cache: %v, %d packages, %d downloaded, %d files, %.1f MB, peak of the heap %d MB", cache,
					took.Round(time.Millisecond), report.Packages, report.Downloaded, len(files.Files()),
					float64(report.Bytes)/1e6, <-peak/1e6)
			}
		})
	}
}

// watchHeap returns a channel. When done is closed, it receives the largest growth of the heap since the call.
func watchHeap(done chan struct{}) chan uint64 {
	result := make(chan uint64, 1)
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapInuse
	go func() {
		peak := before
		for {
			select {
			case <-done:
				result <- peak - before
				return
			case <-time.After(5 * time.Millisecond):
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse)
			}
		}
	}()
	return result
}
