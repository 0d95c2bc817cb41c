package npm_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/npm"
)

// TestHostilePackages checks packages with a correct hash that contain dangerous files.
func TestHostilePackages(t *testing.T) {
	t.Parallel()
	file := func(name string) []byte {
		return tarball(tarEntry{name: "package/ok.js"}, tarEntry{name: name, data: "x"})
	}
	for name, tc := range map[string]struct {
		tarball []byte
		code    failure.Code
		message string
	}{
		"a parent folder": {
			file("package/../../../etc/passwd"), failure.BuildFailed, "a@1.0.0 has a file with an unsafe path",
		},
		"a path above":        {file("../x.js"), failure.BuildFailed, "unsafe path"},
		"inside, but unusual": {file("package/lib/../x.js"), failure.BuildFailed, "unsafe path"},
		"an absolute path":    {file("/package/x.js"), failure.BuildFailed, "unsafe path"},
		"a backslash":         {file(`package/..\x.js`), failure.BuildFailed, "unsafe path"},
		"a long path": {
			file("package/" + strings.Repeat("a/", 1000) + "x.js"), failure.BuildFailed, "unsafe path",
		},
		"not gzip": {[]byte("text"), failure.BuildFailed, "a@1.0.0 is damaged"},
		"not tar": {
			gzipped([]byte(strings.Repeat("text", 1000))), failure.BuildFailed, "a@1.0.0 is damaged",
		},
		"a size that is not true": {lyingTarball(50 << 20), failure.BuildFailed, "a@1.0.0 is damaged"},
		"a huge size":             {lyingTarball(1 << 40), failure.DependencyTooLarge, "more than 400 MiB"},
		"the largest size": {
			lyingTarball(int64(len("small")), math.MaxInt64), failure.DependencyTooLarge, "more than 400 MiB",
		},
		"a bomb":                 {bomb(401<<20, "package/zeros.js"), failure.DependencyTooLarge, "are a@1.0.0 (401.0 MiB)"},
		"a bomb that is skipped": {bomb(513<<20, "package/zeros.md"), failure.DependencyTooLarge, "a@1.0.0 is too large"},
		"many files":             {manyFiles(100_001), failure.DependencyTooLarge, "100000 files"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setUp(t)
			f.registry.publishTarball("a", "1.0.0", fields{}, tc.tarball)
			_, _, err := f.install(t, `"a":"1"`, "")
			wantFailure(t, err, tc.code, tc.message)
		})
	}
}

// Links and devices are ignored, as npm does.
func TestLinks(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publishTarball("a", "1.0.0", fields{}, tarball(
		tarEntry{name: "package/", kind: tar.TypeDir},
		tarEntry{name: "package/secret.js", kind: tar.TypeSymlink, data: "/etc/passwd"},
		tarEntry{name: "package/other.js", kind: tar.TypeLink, data: "package/index.js"},
		tarEntry{name: "package/fifo", kind: tar.TypeFifo},
		tarEntry{name: "package/null", kind: tar.TypeChar},
		tarEntry{name: "top.js", data: "not in a folder"},
		tarEntry{name: "package/index.js", data: "first"},
		tarEntry{name: "other/./index.js", data: "last"},
	))
	files, _, err := f.install(t, `"a":"1"`, "")
	if err != nil {
		t.Fatal(err)
	}
	want(t, files, "/node_modules/a/index.js")
	if got := string(files["/node_modules/a/index.js"]); got != "last" {
		t.Errorf("got %q, want the last file with that path", got)
	}
}

func gzipped(data []byte) []byte {
	var buffer bytes.Buffer
	w := gzip.NewWriter(&buffer)
	_, _ = w.Write(data)
	_ = w.Close()
	return buffer.Bytes()
}

// lyingTarball returns a tarball with small files that claim to have these sizes.
func lyingTarball(sizes ...int64) []byte { return gzipped(lyingArchive(sizes...)) }

func lyingArchive(sizes ...int64) []byte {
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	for _, size := range sizes {
		_ = w.WriteHeader(&tar.Header{Name: "package/index.js", Size: size, Mode: 0o644})
		_, _ = w.Write([]byte("small"))
	}
	return buffer.Bytes()
}

// bomb returns a tarball with a file of zeros. It consists of many gzip streams. All except the first are equal.
func bomb(size int64, name string) []byte {
	var header bytes.Buffer
	_ = tar.NewWriter(&header).WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o644})
	zeros := gzipped(make([]byte, 1<<20))
	return append(gzipped(header.Bytes()), bytes.Repeat(zeros, int(size>>20)+1)...)
}

func manyFiles(n int) []byte {
	entries := make([]tarEntry, n)
	for i := range entries {
		entries[i].name = fmt.Sprintf("package/%d.js", i)
	}
	return tarball(entries...)
}

// The tarballs that an installation downloads share a limit. Packages in the cache do not count.
func TestTarballsShareLimit(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for _, name := range []string{"a", "b"} {
		data := make([]byte, 600<<10)
		_, _ = rand.Read(data)
		f.registry.publishTarball(name, "1.0.0", fields{}, tarball(tarEntry{name: "package/a.bin", data: string(data)}))
	}
	install := func(dependencies string) error {
		_, _, err := installInto(t, npm.NewWithTarballs(f.deps, 1<<20), project(dependencies, ""))
		return err
	}
	const both = `{"dependencies":{"a":"1","b":"1"}}`
	wantFailure(t, install(both), failure.DependencyTooLarge, "more than 1 MiB when they are compressed")
	for _, dependencies := range []string{`{"dependencies":{"a":"1"}}`, `{"dependencies":{"b":"1"}}`, both} {
		if err := install(dependencies); err != nil {
			t.Errorf("%s: %v", dependencies, err)
		}
	}
}

// The limits apply to all packages together, even if they come from the cache. The error names the largest packages.
func TestLimits(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for i := range 4 {
		f.registry.publishTarball(fmt.Sprintf("p%d", i), "1.0.0", fields{}, bomb(int64(i+1)<<20, "package/zeros.js"))
	}
	install := func(bytes, files int64, dependencies string) (npm.Report, error) {
		_, report, err := installInto(t, npm.NewWithLimits(f.deps, bytes, files), project(dependencies, ""))
		return report, err
	}
	const all = `{"dependencies":{"p0":"1","p1":"1","p2":"1","p3":"1"}}`
	for range 2 {
		_, err := install(9<<20, 4, all)
		wantFailure(t, err, failure.DependencyTooLarge, "more than 9 MiB or 4 files when they are")
		_, err = install(10<<20, 3, all)
		wantFailure(t, err, failure.DependencyTooLarge, "more than 10 MiB or 3 files")
		report, err := install(10<<20, 4, all) // now all are in the cache
		if report.Bytes != 10<<20 || err != nil {
			t.Fatalf("got %d bytes, error %v, want 10 MiB", report.Bytes, err)
		}
	}
	// The files of a package that is installed twice count twice.
	const twice = `{"dependencies":{"x0":"npm:p0@1","x1":"npm:p0@1"}}`
	if report, err := install(1<<20, 2, twice); report.Bytes != 1<<20 || report.Packages != 2 || err != nil {
		t.Errorf("got %+v, error %v, want 2 packages and 1 MiB", report, err)
	}
	_, err := install(1<<20, 1, twice)
	wantFailure(t, err, failure.DependencyTooLarge, "more than 1 MiB or 1 files")
	// A file with a path of more than 512 bytes counts three times.
	long := "package/" + strings.Repeat("d/", 250) + "a.js"
	f.registry.publishTarball("long", "1.0.0", fields{}, tarball(tarEntry{name: long}))
	_, err = install(1<<20, 2, `{"dependencies":{"long":"1"}}`)
	wantFailure(t, err, failure.DependencyTooLarge, "or 2 files")
	if _, err = install(1<<20, 3, `{"dependencies":{"long":"1"}}`); err != nil {
		t.Error(err)
	}
}

func TestUnpackEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var archive bytes.Buffer
	zipped, err := gzip.NewReader(bytes.NewReader(tarball(tarEntry{name: "package/a.js"})))
	if err == nil {
		_, err = archive.ReadFrom(zipped)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := npm.Unpack(ctx, t.TempDir(), &archive); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want the error of the context", err)
	}
}
