package npm_test

import (
	"bytes"
	"crypto/sha512"
	"encoding/hex"
	"strings"
	"testing"
	"time"
)

func TestCache(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.registry.publish("a", "1.0.0", nil, map[string]string{"index.js": strings.Repeat("a", 10_000), "empty.js": ""})
	const path = "/a/-/a-1.0.0.tgz"
	sum := sha512.Sum512(f.registry.tarballs[path])
	key := "packages/" + hex.EncodeToString(sum[:])

	first, report, err := f.install(t, `"a":"1"`, "")
	if report.Downloaded != 1 || err != nil {
		t.Fatalf("got %+v, error %v, want one download", report, err)
	}
	check := func(step string, downloaded int) []byte {
		t.Helper()
		files, report, err := f.install(t, `"a":"1"`, "")
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

	f.now = f.now.Add(14 * 24 * time.Hour)
	if !bytes.Equal(object, check("after 14 days", 0)) {
		t.Error("the object was written again after 14 days")
	}
	f.now = f.now.Add(2 * 24 * time.Hour)
	refreshed := check("after 16 days", 0)
	if bytes.Equal(object, refreshed) || !bytes.Equal(object[9:], refreshed[9:]) {
		t.Error("the object was not written again with another time after 16 days")
	}

	damage := func(change func([]byte) []byte) {
		t.Helper()
		damaged := change(bytes.Clone(refreshed))
		if err := f.deps.Bucket.DeleteAll(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		if err := f.deps.Bucket.Create(t.Context(), key, damaged); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func([]byte) []byte{
		"empty":              func([]byte) []byte { return nil },
		"another format":     func(b []byte) []byte { b[0]++; return b },
		"another size":       func(b []byte) []byte { b[12]++; return b },
		"a huge size":        func(b []byte) []byte { b[9] = 0xff; return b },
		"a changed byte":     func(b []byte) []byte { b[len(b)-20] ^= 1; return b },
		"a changed check":    func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"cut":                func(b []byte) []byte { return b[:len(b)-1] },
		"only a header":      func(b []byte) []byte { return b[:13] },
		"something appended": func(b []byte) []byte { return append(b, 0) },
	} {
		damage(change)
		repaired := check(name, 1)
		if !bytes.Equal(repaired[9:], refreshed[9:]) {
			t.Errorf("%s: the object was not replaced", name)
		}
		check(name+", repaired", 0)
	}
	if n := strings.Count(f.log.String(), "a cached package is damaged"); n != 9 {
		t.Errorf("got %d log lines about damaged objects, want 9:\n%s", n, f.log)
	}
}
