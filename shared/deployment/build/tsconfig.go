package build

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"devplatform/shared/deployment/constant"
	"devplatform/shared/deployment/failure"
)

// tsconfig is the part of the project's tsconfig.json that the build honors.
type tsconfig struct {
	options map[string]any      // the compilerOptions for esbuild
	paths   map[string][]string // absolute targets in the project by pattern
	baseURL string              // absolute folder, or ""
}

// readTSConfig reads the configuration of the project, and adds the aliases of vite.config. It reads only files of the
// project. Errors: *failure.Error.
func (p *project) readTSConfig() error {
	c := tsconfig{options: map[string]any{}}
	seen := map[string]bool{}
	for _, folder := range []string{"", p.web} {
		for _, name := range []string{"/jsconfig.json", "/tsconfig.app.json", "/tsconfig.json"} {
			if err := c.read(p, folder+name, seen); err != nil {
				return err
			}
		}
	}
	// The automatic runtime needs no import of React. The classic one is used only by projects that name its functions.
	if c.options["jsxFactory"] != nil {
		c.options["jsx"] = "react"
	} else {
		c.options["jsx"] = "react-jsx"
		delete(c.options, "jsxFragmentFactory")
	}
	if c.options["jsxImportSource"] == nil && p.manifest.has("preact") && !p.manifest.has("react") {
		c.options["jsxImportSource"] = "preact"
	}
	if c.options["jsxImportSource"] == nil && p.isVue() {
		c.options["jsxImportSource"] = "vue"
	}
	// Many projects define this alias only in a file that the build does not read.
	paths := map[string][]string{"@/*": {p.web + "/src/*"}}
	if c.baseURL != "" {
		paths["*"] = []string{path.Join(c.baseURL, "*")}
	}
	maps.Copy(paths, c.paths)
	maps.Copy(paths, p.pathAliases)
	p.pathAliases = paths
	relative := map[string][]string{}
	for pattern, targets := range p.pathAliases {
		for _, target := range targets {
			relative[pattern] = append(relative[pattern], "."+target)
		}
	}
	c.options["paths"] = relative
	p.tsconfig = constant.Quote(map[string]any{"compilerOptions": c.options})
	return nil
}

// isVue reports whether the JSX of a project is for Vue.
func (p *project) isVue() bool { return p.manifest.has("vue") && !p.manifest.has("react") }

// read reads a file after the files that it extends. Each file is read once.
func (c *tsconfig) read(p *project, name string, seen map[string]bool) error {
	text, err := p.tree.Read(name)
	if err != nil || seen[name] || len(bytes.TrimSpace(trimBOM(text))) == 0 { // TypeScript accepts an empty file
		return nil //nolint:nilerr // the file does not exist
	}
	seen[name] = true
	config, ok := constant.Evaluate(name, slices.Concat([]byte("export default "), trimBOM(text)), nil).(map[string]any)
	if !ok {
		return failf(failure.BuildFailed, "The file is not a valid configuration of TypeScript. It must be a JSON object.").
			At(name, nil, 0)
	}
	for _, parent := range stringsIn(config["extends"]) {
		// A configuration in a package or outside of the project is ignored.
		if file, ok := join(path.Dir(name), parent); ok && strings.HasPrefix(parent, ".") {
			if !p.has(file) {
				file += ".json"
			}
			if err := c.read(p, file, seen); err != nil {
				return err
			}
		}
	}
	options, _ := config["compilerOptions"].(map[string]any)
	c.readPaths(path.Dir(name), options)
	for _, key := range []string{"jsxImportSource", "jsxFactory", "jsxFragmentFactory", "experimentalDecorators",
		"useDefineForClassFields", "verbatimModuleSyntax"} {
		if _, isConstant := constant.Encode(options[key]); isConstant && options[key] != nil {
			c.options[key] = options[key]
		}
	}
	return nil
}

// readPaths reads baseUrl and paths. Targets outside of the project are left out.
func (c *tsconfig) readPaths(dir string, options map[string]any) {
	if base, _ := options["baseUrl"].(string); base != "" {
		if folder, ok := join(dir, base); ok {
			c.baseURL, dir = folder, folder
		}
	}
	paths, ok := options["paths"].(map[string]any)
	if !ok {
		return
	}
	c.paths = map[string][]string{}
	for pattern, targets := range paths {
		for _, target := range stringsIn(targets) {
			if file, ok := join(dir, target); ok && !strings.HasPrefix(target, "/") && strings.Count(pattern, "*") < 2 {
				c.paths[pattern] = append(c.paths[pattern], file)
			}
		}
	}
}

// stringsIn returns the strings in a JSON value that is a string or a list.
func stringsIn(value any) (all []string) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for _, item := range list {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// aliasedFile returns the file to which a path alias resolves a reference. It uses the first target of the best
// matching pattern: a pattern without a *, otherwise the pattern with the longest text before the *, otherwise with the
// longest text after it.
func (p *project) aliasedFile(spec string) (file string, ok bool) {
	best, longest := -1, -1
	for pattern, targets := range p.pathAliases {
		before, after, isWild := strings.Cut(pattern, "*")
		rest, matches := strings.CutPrefix(spec, before)
		match, ends := strings.CutSuffix(rest, after)
		if !matches || !ends || !isWild && match != "" || len(targets) == 0 {
			continue
		}
		rank := len(before)
		if !isWild {
			rank = len(spec) + 1
		}
		if rank > best || rank == best && len(after) > longest {
			best, longest = rank, len(after)
			file, ok = join("/", "."+strings.Replace(targets[0], "*", match, 1))
		}
	}
	return file, ok
}
