package infra_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestGoroutinesStartInOnePackage checks that only shared/async starts goroutines, because a panic in any other
// goroutine would end the process and all of its requests. The linter refuses the libraries that start goroutines.
func TestGoroutinesStartInOnePackage(t *testing.T) {
	t.Parallel()
	mayStart := []string{"shared/async/async.go"}
	var found []string
	files := token.NewFileSet()
	for _, folder := range []string{"shared", "functions"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if statement, ok := n.(*ast.GoStmt); ok {
					name, _ := filepath.Rel(root, path)
					if found = append(found, name); !slices.Contains(mayStart, name) {
						t.Errorf("%s:%d: a panic in this goroutine would end the process; use shared/async", name,
							files.Position(statement.Go).Line)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Contains(found, mayStart[0]) {
		t.Errorf("found no goroutine in %s: the test does not find goroutines", mayStart[0])
	}
}
