package engine

import (
	"embed"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"modernc.org/quickjs"
)

// compilers are the bundles that `make compilers` makes. They are bytecode of the interpreter, because it takes several
// times as long to read their sources. Bytecode runs only in the version of the interpreter that made it.
//
//go:embed compilers
var compilers embed.FS

// CompilerLines is the maximum number of lines of a bundle.
const CompilerLines = 10_000

// LoadCompiler runs the program of a compiler, such as "tailwind4". Errors: the errors of Load.
func (e *Engine) LoadCompiler(name string) error {
	file, err := compilers.Open("compilers/" + name + ".zst")
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	decoder, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	defer decoder.Close()
	code, err := io.ReadAll(decoder)
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	// The lines in the bytecode begin with 1. Later programs begin after all lines that a compiler can have.
	e.programs = append(e.programs, program{offset: e.lines})
	e.lines += CompilerLines
	return e.run(func() (quickjs.Value, error) { return e.vm.EvalBytecodeValue(code) })
}
