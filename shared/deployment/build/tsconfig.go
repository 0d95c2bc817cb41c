package build

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"devplatform/shared/deployment/failure"
)

// tsconfig is the part of the project's tsconfig.json that the build honors.
type tsconfig struct {
	raw     string // for esbuild: only options that have nothing to do with files
	aliases []alias
	baseURL string // absolute folder, or ""
}

// alias is an entry of paths: references that match the pattern mean one of the absolute targets.
type alias struct {
	pattern string
	targets []string
}

type tsconfigFile struct {
	Extends         any                        `json:"extends"`
	CompilerOptions map[string]json.RawMessage `json:"compilerOptions"`
}

// rawOptions are the options that esbuild receives.
var rawOptions = []string{
	"jsx", "jsxImportSource", "jsxFactory", "jsxFragmentFactory", "experimentalDecorators", "useDefineForClassFields",
	"verbatimModuleSyntax",
}

// readTSConfig returns the configuration of the project. It reads only files of the project. Errors: *failure.Error.
func (p *project) readTSConfig() (tsconfig, error) {
	c, options := tsconfig{}, map[string]json.RawMessage{}
	seen := map[string]bool{}
	for _, name := range []string{"/jsconfig.json", "/tsconfig.app.json", "/tsconfig.json"} {
		if err := c.read(p.tree, name, options, seen); err != nil {
			return c, err
		}
	}
	// The automatic runtime needs no import of React. The classic one is used only by projects that name its functions.
	if _, ok := options["jsxFactory"]; ok {
		options["jsx"] = json.RawMessage(`"react"`)
	} else {
		options["jsx"] = json.RawMessage(`"react-jsx"`)
		delete(options, "jsxFragmentFactory")
	}
	if _, ok := options["jsxImportSource"]; !ok && p.manifest.has("preact") && !p.manifest.has("react") {
		options["jsxImportSource"] = json.RawMessage(`"preact"`)
	}
	raw, err := json.Marshal(map[string]any{"compilerOptions": options})
	c.raw = string(raw)
	if err != nil {
		c.raw = "{}"
	}
	// Projects for Vite define this alias in vite.config, which is a program.
	c.aliases = append(c.aliases, alias{"@/*", []string{"/src/*"}})
	return c, nil
}

// read reads a file and what it extends. Its own options win. Each file is read once.
func (c *tsconfig) read(t *tree, name string, options map[string]json.RawMessage, seen map[string]bool) error {
	if !t.has(name) || seen[name] {
		return nil
	}
	seen[name] = true
	data, err := t.read(name)
	if err != nil {
		return nil //nolint:nilerr // a file whose name cannot be stored
	}
	var f tsconfigFile
	if !f.parse(data) {
		return &failure.Error{Code: failure.BuildFailed, Path: name, Line: 1, Column: 1,
			Message: "The file is not a valid configuration of TypeScript. It must be a JSON object."}
	}
	for _, parent := range texts(f.Extends) {
		// A configuration in a package or outside of the project is ignored.
		if file, ok := join(path.Dir(name), parent); ok && strings.HasPrefix(parent, ".") {
			if !t.has(file) {
				file += ".json"
			}
			if err := c.read(t, file, options, seen); err != nil {
				return err
			}
		}
	}
	c.readPaths(path.Dir(name), f.CompilerOptions)
	if n := c.targets(); n > maxAliases {
		return &failure.Error{Code: failure.BuildFailed, Path: name, Line: 1, Column: 1, Message: fmt.Sprintf(
			"paths has %d targets, and the limit is %d. Use patterns such as \"@/*\".", n, maxAliases)}
	}
	for _, key := range rawOptions {
		if v, ok := f.CompilerOptions[key]; ok {
			options[key] = v
		}
	}
	return nil
}

// maxAliases limits the targets of paths, because each import of a package is compared with them.
const maxAliases = 1000

// targets returns the number of targets of paths. A pattern without one counts, too.
func (c *tsconfig) targets() int {
	n := 0
	for _, a := range c.aliases {
		n += max(1, len(a.targets))
	}
	return n
}

// parse reads JSON with comments.
func (f *tsconfigFile) parse(data []byte) bool {
	data = trimBOM(data)
	if len(bytes.TrimSpace(data)) == 0 {
		return true // TypeScript accepts an empty file
	}
	standard, err := hujson.Standardize(slices.Clone(data))
	return err == nil && json.Unmarshal(standard, f) == nil
}

// readPaths reads baseUrl and paths. Targets outside of the project are left out.
func (c *tsconfig) readPaths(dir string, options map[string]json.RawMessage) {
	var base string
	if json.Unmarshal(options["baseUrl"], &base) == nil {
		if folder, ok := join(dir, base); ok && base != "" {
			c.baseURL, dir = folder, folder
		}
	}
	var paths map[string][]string
	if json.Unmarshal(options["paths"], &paths) != nil || paths == nil {
		return
	}
	c.aliases = nil
	for pattern, targets := range paths {
		a := alias{pattern: pattern}
		for _, t := range targets {
			if file, ok := join(dir, t); ok && !strings.HasPrefix(t, "/") {
				a.targets = append(a.targets, file)
			}
		}
		c.aliases = append(c.aliases, a)
	}
	// The longest text before * wins, and a pattern without * before all.
	slices.SortFunc(c.aliases, func(a, b alias) int {
		if n := len(prefix(b.pattern)) - len(prefix(a.pattern)); n != 0 {
			return n
		}
		return strings.Compare(a.pattern, b.pattern)
	})
}

func prefix(pattern string) string {
	before, _, _ := strings.Cut(pattern, "*")
	return before
}

// candidates returns the files that a reference can mean by paths and baseUrl.
func (c *tsconfig) candidates(spec string) []string {
	var files []string
	for _, a := range c.aliases {
		before, after, wild := strings.Cut(a.pattern, "*")
		if !wild && spec != a.pattern || !strings.HasPrefix(spec, before) || !strings.HasSuffix(spec[len(before):], after) {
			continue
		}
		match := strings.TrimSuffix(spec[len(before):], after)
		for _, t := range a.targets {
			if file, ok := join("/", "."+strings.Replace(t, "*", match, 1)); ok {
				files = append(files, file)
			}
		}
		if len(files) > 0 {
			break
		}
	}
	if c.baseURL != "" {
		if file, ok := join(c.baseURL, spec); ok {
			files = append(files, file)
		}
	}
	return files
}

// texts returns a value that is a string or a list of strings.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, item := range v {
			if s, ok := item.(string); ok {
				all = append(all, s)
			}
		}
		return all
	}
	return nil
}
