package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"devplatform/infra/local/stack"
)

// binaries answers the path of each function's binary by the function's name. dir holds them ready made, named as the
// last element of the function's CodeUri; where it is empty they are built, all in one call of the go command, into out.
func binaries(ctx context.Context, s *stack.Stack, dir, out string) (map[string]string, error) {
	functions := s.Functions
	if dir == "" {
		if err := build(ctx, s.Dir, functions, out); err != nil {
			return nil, err
		}
		dir = out
	}
	paths := make(map[string]string, len(functions))
	owner := make(map[string]string, len(functions))
	for _, f := range functions {
		path := filepath.Join(dir, filepath.Base(f.CodeURI))
		if other := owner[path]; other != "" && other != f.CodeURI {
			return nil, fmt.Errorf("%s: CodeUri %s and %s end alike: their binaries would share a name", f.Name, f.CodeURI, other)
		}
		owner[path] = f.CodeURI
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			return nil, fmt.Errorf("%s: no binary at %s (make binaries)", f.Name, path)
		}
		paths[f.Name] = path
	}
	return paths, nil
}

// build compiles the functions as a deployment does, but for this machine.
func build(ctx context.Context, root string, functions []stack.Function, out string) error {
	if len(functions) == 0 {
		return nil
	}
	if err := os.MkdirAll(out, 0o750); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	args := []string{"build", "-trimpath", "-tags=lambda.norpc", "-ldflags=-s", "-o", out + string(filepath.Separator)}
	for _, f := range functions {
		args = append(args, "./"+filepath.ToSlash(filepath.Clean(f.CodeURI)))
	}
	command := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the folders come from the user's template
	command.Dir = root
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build the functions: %w\n%s", err, bytes.TrimSpace(output))
	}
	return nil
}
