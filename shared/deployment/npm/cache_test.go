package npm_test

import (
	"bytes"
	"crypto/sha512"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"devplatform/shared/deployment/npm"
)

// objectKey returns the key of the object with the files of a tarball.
func objectKey(tarball []byte) string {
	sum := sha512.Sum512(tarball)
	return "packages/2/" + hex.EncodeToString(sum[:])
}

func TestCache(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", nil, map[string]string{"index.js": strings.Repeat("a", 10_000), "empty.js": ""})
	key := objectKey(f.registry.tarballs["/a/-/a-1.0.0.tgz"])

	first, report, err := f.install(t, `"a":"1"`, "")
	if report.Downloaded != 1 || err != nil {
		t.Fatalf("got %+v, error %v, want one download", report, err)
	}
	installer := npm.New(f.deps)
	check := func(step string, downloaded int) []byte {
		t.Helper()
		files, report, err := installInto(t, installer, project(`{"dependencies":{"a":"1"}}`, ""))
		if err != nil || report.Downloaded != downloaded || report.Packages != 1 {
			t.Fatalf("%s: got %+v, error %v, want %d downloads", step, report, err, downloaded)
		}
		if len(files) != len(first) {
			t.Errorf("%s: got %d files, want %d", step, len(files), len(first))
		}
		for name := range first {
			if data, ok := files[name]; !ok || !bytes.Equal(data, first[name]) {
				t.Errorf("%s: %s differs", step, name)
			}
		}
		object, err := f.deps.Bucket.Get(t.Context(), key)
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		return object
	}
	object := check("cached", 0)

	encoder, _ := zstd.NewWriter(nil)
	damage := func(change func([]byte) []byte) {
		t.Helper()
		damaged := change(bytes.Clone(object))
		if err := f.deps.Bucket.DeleteAll(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		if err := f.deps.Bucket.Create(t.Context(), key, damaged); err != nil {
			t.Fatal(err)
		}
	}
	changes := map[string]func([]byte) []byte{
		"empty":              func([]byte) []byte { return nil },
		"another format":     func(b []byte) []byte { b[0]++; return b },
		"not an archive":     func([]byte) []byte { return encoder.EncodeAll([]byte("text"), nil) },
		"no files":           func([]byte) []byte { return encoder.EncodeAll(make([]byte, 1024), nil) },
		"a file cut":         func([]byte) []byte { return encoder.EncodeAll(lyingArchive(50<<20), nil) },
		"a changed byte":     func(b []byte) []byte { b[len(b)-20] ^= 1; return b },
		"a changed check":    func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"cut":                func(b []byte) []byte { return b[:len(b)-1] },
		"only a header":      func(b []byte) []byte { return b[:13] },
		"something appended": func(b []byte) []byte { return append(b, 0) },
	}
	for name, change := range changes {
		damage(change)
		repaired := check(name, 1)
		if !bytes.Equal(repaired, object) {
			t.Errorf("%s: the object was not replaced", name)
		}
		check(name+", repaired", 0)
	}
	if n := strings.Count(f.log.String(), "a cached package is damaged"); n != len(changes) {
		t.Errorf("got %d log lines about damaged objects, want %d:\n%s", n, len(changes), f.log)
	}
}
