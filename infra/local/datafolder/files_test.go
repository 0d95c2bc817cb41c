package datafolder

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "file")
	for _, test := range []struct {
		content string
		perm    os.FileMode
	}{{"first", 0o644}, {"second", 0o600}, {"", 0o640}} {
		if err := WriteFile(path, []byte(test.content), test.perm); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil || string(content) != test.content {
			t.Errorf("got %q, %v, want %q", content, err, test.content)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != test.perm {
			t.Errorf("got %v, %v, want %v", info.Mode(), err, test.perm)
		}
	}
	if err := WriteFile(filepath.Join(path, "below a file"), nil, 0o600); err == nil {
		t.Error("a file below a file was written")
	}
	if err := WriteFile(dir, nil, 0o600); err == nil {
		t.Error("a folder was replaced")
	}
	for _, folder := range []string{dir, filepath.Dir(dir)} { // no temporary files remain
		if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
			t.Errorf("%s has %v, %v", folder, entries, err)
		}
	}
}
