package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
)

// target is one fuzz test.
type target struct {
	module, pkg, name string
}

// String returns the name that the table shows: the package's path inside the module, a dot, and the function.
func (t target) String() string {
	return strings.TrimPrefix(strings.TrimPrefix(t.pkg, t.module), "/") + "." + t.name
}

// targets returns the fuzz tests of the packages, in the order of the packages and files. It only parses the sources,
// which takes a second. `go test -list` would build every test binary first.
func targets(ctx context.Context, folder string, packages []string) ([]target, error) {
	args := append([]string{"list", "-json=ImportPath,Dir,Module,TestGoFiles,XTestGoFiles"}, packages...)
	list := exec.CommandContext(ctx, "go", args...)
	list.Dir = folder
	out, err := list.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("go list: %w\n%s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go list: %w", err)
	}
	var found []target
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Dir           string
			Module                    struct{ Path string }
			TestGoFiles, XTestGoFiles []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		for _, file := range append(p.TestGoFiles, p.XTestGoFiles...) {
			names, err := fuzzTests(filepath.Join(p.Dir, file))
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				found = append(found, target{p.Module.Path, p.ImportPath, name})
			}
		}
	}
}

// fuzzTests returns the names of the fuzz tests of a file: functions whose names begin with Fuzz.
func fuzzTests(file string) ([]string, error) {
	source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("find targets: %w", err)
	}
	var names []string
	for _, d := range source.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") {
			names = append(names, f.Name.Name)
		}
	}
	return names, nil
}
