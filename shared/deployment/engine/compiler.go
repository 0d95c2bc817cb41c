package engine

import (
	"compress/gzip"
	"embed"
	"fmt"
	"io"
)

// compilers are the bundles that `make compilers` makes.
//
//go:embed compilers
var compilers embed.FS

// LoadCompiler runs the program of a compiler, such as "tailwind4". Errors: the errors of Load.
func (e *Engine) LoadCompiler(name string) error {
	file, err := compilers.Open("compilers/" + name + ".js.gz")
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	code, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	text, err := io.ReadAll(code)
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	return e.Load(string(text), nil)
}
