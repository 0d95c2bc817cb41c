package build

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"devplatform/shared/deployment/failure"
)

// tsconfig is the part of the project's tsconfig.json that the build honors.
type tsconfig struct {
	options map[string]json.RawMessage // for esbuild: only options that have nothing to do with files
	paths   []alias
	baseURL string // absolute folder, or ""
}

// alias means that references that match the pattern, which can have a *, refer to one of the targets: absolute paths in
// the project, or packages.
type alias struct {
	pattern string
	targets []string
}

// readTSConfig returns the configuration of the project. It reads only files of the project. Errors: *failure.Error.
func (p *project) readTSConfig() (tsconfig, error) {
	c := tsconfig{options: map[string]json.RawMessage{}}
	seen := map[string]bool{}
	for _, folder := range []string{"", p.web} {
		for _, name := range []string{"/jsconfig.json", "/tsconfig.app.json", "/tsconfig.json"} {
			if err := c.read(p, folder+name, seen); err != nil {
				return c, err
			}
		}
	}
	// The automatic runtime needs no import of React. The classic one is used only by projects that name its functions.
	if _, ok := c.options["jsxFactory"]; ok {
		c.options["jsx"] = json.RawMessage(`"react"`)
	} else {
		c.options["jsx"] = json.RawMessage(`"react-jsx"`)
		delete(c.options, "jsxFragmentFactory")
	}
	if _, ok := c.options["jsxImportSource"]; !ok && p.manifest.has("preact") && !p.manifest.has("react") {
		c.options["jsxImportSource"] = json.RawMessage(`"preact"`)
	}
	return c, nil
}

// read reads a file after the files that it extends. Each file is read once.
func (c *tsconfig) read(p *project, name string, seen map[string]bool) error {
	if !p.has(name) || seen[name] {
		return nil
	}
	seen[name] = true
	data, err := p.tree.Read(name)
	if err != nil {
		return nil //nolint:nilerr // a file whose name cannot be stored
	}
	var f struct {
		Extends         any                        `json:"extends"`
		CompilerOptions map[string]json.RawMessage `json:"compilerOptions"`
	}
	data = trimBOM(data)
	standard, err := hujson.Standardize(slices.Clone(data))
	if err == nil {
		err = json.Unmarshal(standard, &f)
	}
	if err != nil && len(bytes.TrimSpace(data)) > 0 { // TypeScript accepts an empty file
		return &failure.Error{Code: failure.BuildFailed, Path: name, Line: 1, Column: 1,
			Message: "The file is not a valid configuration of TypeScript. It must be a JSON object."}
	}
	parents, isList := f.Extends.([]any)
	if !isList {
		parents = []any{f.Extends}
	}
	for _, parent := range parents {
		// A configuration in a package or outside of the project is ignored.
		text, _ := parent.(string)
		if file, ok := join(path.Dir(name), text); ok && strings.HasPrefix(text, ".") {
			if !p.has(file) {
				file += ".json"
			}
			if err := c.read(p, file, seen); err != nil {
				return err
			}
		}
	}
	c.readPaths(path.Dir(name), f.CompilerOptions)
	for _, key := range []string{"jsx", "jsxImportSource", "jsxFactory", "jsxFragmentFactory", "experimentalDecorators",
		"useDefineForClassFields", "verbatimModuleSyntax"} {
		if v, ok := f.CompilerOptions[key]; ok {
			c.options[key] = v
		}
	}
	return nil
}

// readPaths reads baseUrl and paths. Targets outside of the project are left out.
func (c *tsconfig) readPaths(dir string, options map[string]json.RawMessage) {
	var base string
	var paths map[string][]string
	if json.Unmarshal(options["baseUrl"], &base) == nil && base != "" {
		if folder, ok := join(dir, base); ok {
			c.baseURL, dir = folder, folder
		}
	}
	if json.Unmarshal(options["paths"], &paths) != nil || paths == nil {
		return
	}
	c.paths = nil
	for pattern, targets := range paths {
		a := alias{pattern: pattern}
		for _, t := range targets {
			if file, ok := join(dir, t); ok && !strings.HasPrefix(t, "/") {
				a.targets = append(a.targets, file)
			}
		}
		c.paths = append(c.paths, a)
	}
}

// sortAliases sorts aliases in the order in which they are tried: the longest text before * first.
func sortAliases(all []alias) {
	slices.SortStableFunc(all, func(a, b alias) int {
		before, _, _ := strings.Cut(a.pattern, "*")
		other, _, _ := strings.Cut(b.pattern, "*")
		return cmp.Or(len(other)-len(before), strings.Compare(a.pattern, b.pattern))
	})
}

// candidates returns what a reference can mean by the aliases: files, and specifiers of packages.
func (p *project) candidates(spec string) (all []string) {
	for _, a := range p.aliases {
		before, after, wild := strings.Cut(a.pattern, "*")
		if !wild && spec != a.pattern || len(spec) < len(before)+len(after) || !strings.HasPrefix(spec, before) ||
			!strings.HasSuffix(spec, after) {
			continue
		}
		match := spec[len(before) : len(spec)-len(after)]
		for _, target := range a.targets {
			target = strings.Replace(target, "*", match, 1)
			if file, ok := join("/", "."+target); !strings.HasPrefix(target, "/") {
				all = append(all, target)
			} else if ok {
				all = append(all, file)
			}
		}
	}
	return all
}

// aliasedFile returns the first file that a reference can mean by the aliases.
func (p *project) aliasedFile(spec string) (file string, ok bool) {
	all := p.candidates(spec)
	i := slices.IndexFunc(all, func(candidate string) bool { return strings.HasPrefix(candidate, "/") })
	if i < 0 {
		return "", false
	}
	return all[i], true
}
