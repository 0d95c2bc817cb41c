package build

import (
	"bytes"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/failure"
)

// The bundler has no limits of its own. Before it parses a file, budget estimates the memory of the syntax tree, from
// measurements of hostile input: 20 KB for a module, 1.5 KB for a statement of a script, 300 bytes for a byte of
// a style sheet. Deeply nested code would exhaust the stack, which ends the process.
const (
	maxMemory    = 900 << 20
	maxNesting   = 2000
	maxRun       = 50_000
	maxChoices   = 5000
	moduleMemory = 20 << 10
)

// budget is the memory that the bundler may still use. It is safe for concurrent use.
type budget struct{ used atomic.Int64 }

// take returns an error if a file is too expensive for the bundler. Errors: *failure.Error.
func (b *budget) take(name string, data []byte, loader api.Loader) error {
	memory := moduleMemory
	script := false
	switch loader {
	case api.LoaderFile, api.LoaderText:
		return b.takeFile(name, data, loader)
	case api.LoaderJSON:
		memory += 100 * len(data)
	case api.LoaderCSS, api.LoaderLocalCSS:
		memory += 300 * len(data)
	default:
		script = true
		statements := max(bytes.Count(data, []byte(";")), bytes.Count(data, []byte("\n")))
		memory += 40*len(data) + 1500*statements + 400*bytes.Count(data, []byte(","))
	}
	if err := b.add(memory, name, data); err != nil {
		return err
	}
	if isTooDeep(data, script) {
		return failf(failure.BuildFailed, "The code in %s is nested too deeply. Make it simpler.", name)
	}
	return nil
}

// takeFile is take for a file that the bundler does not parse.
func (b *budget) takeFile(name string, data []byte, loader api.Loader) error {
	if len(data) > maxFileBytes {
		return failf(failure.OutputTooLarge, "The file %s has %d bytes, and the limit is %d (25 MiB). Make it smaller or "+
			"delete it.", name, len(data), maxFileBytes)
	}
	memory := 4 * len(data)
	if loader == api.LoaderText {
		memory = 12 * len(data)
	}
	return b.add(moduleMemory+memory, name, data)
}

// takeManifest returns an error if the package.json of a package is too expensive. Errors: *failure.Error.
func (b *budget) takeManifest(name string, data []byte) error {
	if len(data) > maxManifestBytes {
		return errManifest(name, "1 MiB")
	}
	values := bytes.Count(data, []byte(",")) + bytes.Count(data, []byte(":"))
	return b.add(2*len(data)+300*values, name, data)
}

// takePatterns returns an error if the patterns of sideEffects are too expensive to compile. Errors: *failure.Error.
func (b *budget) takePatterns(name string, patterns []string) error {
	memory := 0
	for _, p := range patterns {
		memory += 1<<10 + 200*len(p)
	}
	return b.add(memory, name, nil)
}

// add takes memory, and returns an error if none is left. Errors: *failure.Error.
func (b *budget) add(memory int, name string, data []byte) error {
	if b.used.Add(int64(memory)) > maxMemory {
		return failf(failure.BuildFailed, "The project has too much code to bundle: the limit was reached at %s, with %d "+
			"bytes. Remove what is not needed, or move large files to /public, where they are not bundled.", name, len(data))
	}
	return nil
}

var (
	// bareStatements matches statements in statements without braces.
	bareStatements = regexp.MustCompile(`\)\s*(?:for|if|while|with)\b|\belse\b`)
	prefixWords    = map[string]bool{}
)

func init() {
	for word := range strings.FieldsSeq("typeof void await new delete yield else do class extends keyof") {
		prefixWords[word] = true
	}
}

// isTooDeep reports whether code is nested so deeply that the bundler's recursion could exhaust the stack. It counts
// open brackets. In scripts, it also counts operators and keywords since the last of ";,{}", conditions since the
// last of ";{}", and statements without braces. It ignores most strings.
func isTooDeep(code []byte, script bool) bool {
	depth, run, choices, word := 0, 0, 0, 0
	for i := 0; i < len(code); i++ {
		c := code[i]
		switch c {
		case '(', '[', '{':
			run++
			if depth++; depth > maxNesting {
				return true
			}
		case ')', ']', '}':
			depth = max(0, depth-1)
		case '!', '~', '+', '-', '?', ':', '=', '>', '.', '*', '&', '|', '^', '%':
			run++
		case ' ', '\n', '\t', '\r':
			if n := i - word; script && n > 1 && n < 8 && prefixWords[string(code[word:i])] {
				run++
			}
		case '"', '\'':
			if end := stringEnd(code, i); end > 0 {
				i = end
			}
		}
		if c < 'a' || c > 'z' {
			word = i + 1
		}
		switch c {
		case '?':
			choices++
		case ',':
			run = 0
		case ';', '{', '}':
			run, choices = 0, 0
		}
		if script && (run > maxRun || choices > maxChoices) {
			return true
		}
	}
	if !script || len(code) < 4*maxRun {
		return false
	}
	words := 0
	for _, w := range []string{"else", "if", "for", "while", "with"} {
		words += bytes.Count(code, []byte(w))
	}
	return words >= maxRun && len(bareStatements.FindAllIndex(code, maxRun)) == maxRun
}

// stringEnd returns the index of the quote that ends a string on the same line, or 0.
func stringEnd(code []byte, start int) int {
	for i := start + 1; i < len(code) && code[i] != '\n'; i++ {
		switch code[i] {
		case '\\':
			i++
		case code[start]:
			return i
		}
	}
	return 0
}
