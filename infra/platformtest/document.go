package platformtest

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Documents returns the paths of all Markdown documents of this repository, relative to its root. The documents of the
// projects of the corpus and of the starters belong to these projects.
func Documents(t testing.TB, root string) (documents []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		isHidden := strings.HasPrefix(name, ".") && path != root
		parent := filepath.Base(filepath.Dir(path))
		isProject := parent == "corpus" || parent == "starters"
		if entry.IsDir() && (isHidden || isProject || name == "node_modules" || name == "testdata") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			document, err := filepath.Rel(root, path)
			documents = append(documents, document)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(documents) < 10 {
		t.Fatalf("found %d documents, want at least 10", len(documents))
	}
	return documents
}
