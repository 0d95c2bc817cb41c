package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"devplatform/infra/testmode"
)

// TestRun mutates a module of two functions whose test notices only one of the three possible mutations, and only
// without -short.
func TestRun(t *testing.T) {
	t.Parallel()
	testmode.SkipIfShort(t)
	folder := t.TempDir()
	const source = "package deep\n\nfunc Sign(n int) bool { return n < 0 }\n\nfunc And(a, b bool) bool { return a && b }\n"
	const tests = "package deep\n\nimport \"testing\"\n\n" +
		"func TestAnd(t *testing.T) { if !testing.Short() && And(true, false) { t.Error() } }\n"
	for name, content := range map[string]string{
		"go.mod": "module example\n\ngo 1.26\n", "deep.go": source, "deep_test.go": tests,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	s := sampler{folder: folder, seed: 1, count: 10, limit: time.Minute, out: &out}
	r, err := s.run(t.Context(), []string{"./..."})
	if err != nil || r != (result{killed: 1, survived: 2}) {
		t.Fatalf("got %+v, %v, want 1 killed and 2 survived\n%s", r, err, out.String())
	}
	for _, want := range []string{"killed    ", "deep.go:5: && → ||", "deep.go:3: < → <=", "deep.go:3: 0 → 1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output does not contain %q:\n%s", want, out.String())
		}
	}
	if unchanged, err := os.ReadFile(filepath.Join(folder, "deep.go")); err != nil || string(unchanged) != source {
		t.Errorf("the file has changed: %s, %v", unchanged, err)
	}
}
