package platform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"time"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
)

// functions builds the functions of a stack.
type functions struct {
	config Config
	stack  *resources.Stack
	dir    string    // the folder of the binaries
	began  time.Time // when buildAll began
}

func newFunctions(config Config, s *resources.Stack) *functions {
	return &functions{config: config, stack: s, dir: cmp.Or(config.Binaries, filepath.Join(config.DataDir, "bin"))}
}

// binary returns the path of a function's binary in a folder.
func (b *functions) binary(dir string, f resources.Function) string {
	return filepath.Join(dir, path.Base(f.CodeURI))
}

// checkSources returns an error for each function whose binary would have the same name as the binary of other code.
func (b *functions) checkSources() error {
	var problems []error
	sources := map[string]string{} // by binary
	for _, f := range b.stack.Functions {
		name := path.Base(f.CodeURI)
		if other := cmp.Or(sources[name], f.CodeURI); other != f.CodeURI {
			problems = append(problems, fmt.Errorf("%s: CodeUri %s and %s have the same last element, so their binaries would "+
				"have the same name: rename one of them", f.Name, f.CodeURI, other))
		}
		sources[name] = f.CodeURI
	}
	return errors.Join(problems...)
}

// packages returns the packages of functions, as arguments of the go command in the folder of the template. Functions
// can share a package.
func packages(all []resources.Function) []string {
	var packages []string
	for _, f := range all {
		packages = append(packages, "./"+f.CodeURI)
	}
	slices.Sort(packages)
	return slices.Compact(packages)
}

// buildAll builds all functions, unless the configuration has a folder of binaries, and checks that all binaries exist.
func (b *functions) buildAll(ctx context.Context) error {
	b.began = now()
	if b.config.Binaries == "" {
		b.config.Logger.Info("building the functions", "count", len(b.stack.Functions))
		if err := b.build(ctx, b.dir, b.stack.Functions); err != nil {
			return err
		}
	}
	for _, f := range b.stack.Functions {
		binary := b.binary(b.dir, f)
		if info, err := os.Stat(binary); err != nil || info.IsDir() {
			return fmt.Errorf("%s: no binary at %s: build the function into this file", f.Name, binary)
		}
	}
	return nil
}

// build compiles functions into a folder, with the flags of a deployment or of a debugger.
func (b *functions) build(ctx context.Context, out string, all []resources.Function) error {
	if err := os.MkdirAll(out, 0o750); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	flags := []string{"-trimpath", "-tags=lambda.norpc", "-ldflags=-s", "-gcflags=all=-dwarf=false"}
	if b.config.HasSymbols {
		flags = []string{"-trimpath=false", "-tags=lambda.norpc", "-ldflags=", "-gcflags=all=-N -l"}
	}
	command := exec.CommandContext(ctx, "go",
		slices.Concat([]string{"build"}, flags, []string{"-o", out + string(filepath.Separator)}, packages(all))...)
	command.Dir = b.stack.Dir
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build the functions: %w\n%s", err, output)
	}
	return nil
}

// configurations returns the functions as the runtime needs them.
func (b *functions) configurations() []runtime.Function {
	all := make([]runtime.Function, 0, len(b.stack.Functions))
	for _, f := range b.stack.Functions {
		if b.config.HasSymbols { // a breakpoint must not end the function
			f.Timeout = time.Hour
		}
		all = append(all, runtime.Function{
			Name: f.Name, Alias: f.Alias, Bootstrap: b.binary(b.dir, f), Handler: f.Handler,
			MemoryMB: f.MemoryMB, Timeout: f.Timeout, Env: f.Env,
			MaxConcurrency: f.ReservedConcurrency,
		})
	}
	return all
}
