package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// module contains the packages of a Go module.
type module struct {
	folder   string
	packages map[string]listedPackage // by import path
}

// listedPackage is a package as go list prints it.
type listedPackage struct {
	ImportPath, Dir                    string
	GoFiles                            []string
	TestGoFiles, XTestGoFiles          []string
	Imports, TestImports, XTestImports []string
	Module                             struct{ Path string }
}

// list reads the packages of the module in folder.
func list(ctx context.Context, folder string) (module, error) {
	m := module{folder: folder, packages: map[string]listedPackage{}}
	printed, err := m.goCommand(ctx, "list", "-json", "./...").Output()
	if err != nil {
		return m, fmt.Errorf("go list: %w", err)
	}
	for decoder := json.NewDecoder(bytes.NewReader(printed)); ; {
		var p listedPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return m, fmt.Errorf("go list: %w", err)
		}
		m.packages[p.ImportPath] = p
	}
}

func (m module) goCommand(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = m.folder
	return command
}

// mutations returns the mutations of all packages that match the patterns, in a fixed order.
func (m module) mutations(ctx context.Context, patterns []string) ([]mutation, error) {
	printed, err := m.goCommand(ctx, append([]string{"list"}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []mutation
	for _, name := range strings.Fields(string(printed)) {
		p := m.packages[name]
		for _, file := range p.GoFiles {
			found, err := fileMutations(name, filepath.Join(p.Dir, file))
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

// testsOf returns the packages whose tests can notice a change of a package: the package itself, and the packages that
// import it directly or whose tests do.
func (m module) testsOf(name string) []string {
	tests := []string{name}
	for other, p := range m.packages {
		imports := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		if other != name && len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 && slices.Contains(imports, name) {
			tests = append(tests, other)
		}
	}
	slices.Sort(tests[1:])
	return tests
}

// try runs the tests with a mutation: the short tests of its package, of the packages that testsOf names, and then all
// tests of its package. Errors: the error of ctx; errors of the file system.
func (m module) try(ctx context.Context, change mutation, limit time.Duration) (compiles, killed bool, err error) {
	folder, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return false, false, fmt.Errorf("make a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	overlay, err := change.write(folder)
	if err != nil {
		return false, false, err
	}
	build := m.goCommand(ctx, "build", "-overlay", overlay, "-o", os.DevNull, change.pkg)
	if build.Run() != nil {
		return false, false, ctx.Err()
	}
	tests := append(m.testsOf(change.pkg), change.pkg)
	for i, name := range tests {
		short := "-short=" + strconv.FormatBool(i < len(tests)-1)
		limited, cancel := context.WithTimeout(ctx, limit)
		err := m.goCommand(limited, "test", "-overlay", overlay, "-vet=off", "-count=1", short, "-failfast", name).Run()
		cancel()
		if ctx.Err() != nil {
			return false, false, ctx.Err()
		}
		if err != nil {
			return true, true, nil
		}
	}
	return true, false, nil
}

// write writes the changed file and the overlay that replaces the original with it. It returns the path of the overlay.
func (m mutation) write(folder string) (string, error) {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return "", fmt.Errorf("read a file: %w", err)
	}
	changed := filepath.Join(folder, "changed.go")
	text := slices.Concat(source[:m.start], []byte(m.text), source[m.end:])
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {m.file: changed}})
	if err != nil {
		return "", fmt.Errorf("write an overlay: %w", err)
	}
	overlay := filepath.Join(folder, "overlay.json")
	for name, content := range map[string][]byte{changed: text, overlay: replaced} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return "", fmt.Errorf("write a file: %w", err)
		}
	}
	return overlay, nil
}
